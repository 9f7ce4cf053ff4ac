#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "dccp/ccid2.h"
#include "tests/unit/ccid/ccid2_model.h"

namespace dccp::test {
namespace {

class FakeFactory final : public CcidFactory {
 public:
  explicit FakeFactory(int id) { traits_.id = CcidId(id); }
  const CcidTraits& traits() const override { return traits_; }
  std::unique_ptr<CcidSender> NewSender(const CcidInit&) const override { return nullptr; }
  std::unique_ptr<CcidReceiver> NewReceiver(const CcidInit&) const override { return nullptr; }

 private:
  CcidTraits traits_ = {};
};

TEST(CcidRegistry, FindsWhatWasAdded) {
  const Ccid2Factory factory;
  CcidRegistry registry;
  EXPECT_EQ(registry.Find(CcidId::k2), nullptr);
  EXPECT_TRUE(registry.Add(factory));
  EXPECT_EQ(registry.Find(CcidId::k2), &factory);
  EXPECT_EQ(registry.Find(CcidId::k3), nullptr);
  ASSERT_EQ(registry.all().size(), 1u);
  EXPECT_EQ(registry.all()[0], &factory);
}

TEST(CcidRegistry, RefusesATakenIdAndWhatDoesNotFit) {
  const Ccid2Factory first;
  const Ccid2Factory second;
  CcidRegistry registry;
  EXPECT_TRUE(registry.Add(first));
  EXPECT_FALSE(registry.Add(second));
  EXPECT_EQ(registry.Find(CcidId::k2), &first);
  std::vector<std::unique_ptr<FakeFactory>> more;
  for (std::size_t i = 1; i <= CcidRegistry::kCapacity; ++i) {
    more.push_back(std::make_unique<FakeFactory>(static_cast<int>(100 + i)));
    EXPECT_EQ(registry.Add(*more.back()), i < CcidRegistry::kCapacity);
  }
  EXPECT_EQ(registry.all().size(), CcidRegistry::kCapacity);
}

TEST(Ccid2Factory, R4341_SET_01_NeedsTheAckVectorOfTheReceiver) {
  const Ccid2Factory factory;
  const CcidTraits& traits = factory.traits();
  EXPECT_EQ(traits.id, CcidId::k2);
  EXPECT_FALSE(traits.uses_ccval);
  EXPECT_TRUE(traits.options.empty());
  ASSERT_EQ(traits.needs.size(), 1u);
  EXPECT_EQ(traits.needs[0].feature, FeatureNumber::kSendAckVector);
  EXPECT_FALSE(traits.needs[0].at_sender);
  EXPECT_TRUE(traits.needs[0].mandatory);
  EXPECT_EQ(traits.needs[0].value, 1u);
}

TEST(Ccid2Factory, MakesBothRoles) {
  const Ccid2Factory factory;
  const auto sender = factory.NewSender(DefaultInit());
  const auto receiver = factory.NewReceiver(DefaultInit());
  EXPECT_EQ(sender->MaySend(1000, kStart).packets, 4u);
  EXPECT_EQ(receiver->NextTimeout(), kNever);
}

}  // namespace
}  // namespace dccp::test
