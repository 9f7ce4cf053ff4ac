#include "stack/io/send_batch.h"

#include "tests/unit/io/loopback.h"

namespace dccp {
namespace {

class SendBatchTest : public testing::Test {
 protected:
  SendBatchTest() : memory_(70000) {
    path_ = Towards(Address("127.0.0.1"), 1000, Address("127.0.0.1"), 2000);
  }
  OutboundDatagram Sized(std::size_t bytes) const {
    return {std::span(memory_).first(bytes), path_, Ecn::kEct0, false};
  }
  std::size_t Append(const std::vector<OutboundDatagram>& out) {
    return batch_.Append(out, {.family = IpFamily::kV4, .segment = true});
  }

  std::vector<std::byte> memory_;
  Path path_;
  SendBatch batch_;
};

TEST_F(SendBatchTest, TakesAtMost64Segments) {
  EXPECT_EQ(Append(std::vector(100, Sized(100))), 64u);
}

TEST_F(SendBatchTest, TakesAtMostOneUdpPayload) {
  EXPECT_EQ(Append(std::vector(100, Sized(1444))), 45u);  // 45 * 1444 = 64980
  EXPECT_EQ(Append(std::vector(3, Sized(32754))), 1u);    // two would be 65508
}

TEST_F(SendBatchTest, EndsARunAtTheFirstShorterDatagramAndIncludesIt) {
  EXPECT_EQ(Append({Sized(100), Sized(100), Sized(50), Sized(50)}), 3u);
}

TEST_F(SendBatchTest, EndsARunBeforeALongerDatagram) {
  EXPECT_EQ(Append({Sized(100), Sized(101)}), 1u);
}

TEST_F(SendBatchTest, EndsARunBeforeAnEmptyDatagram) {
  EXPECT_EQ(Append({Sized(100), Sized(0), Sized(100)}), 1u);
  EXPECT_EQ(Append({Sized(0), Sized(0)}), 1u);
}

TEST_F(SendBatchTest, EndsARunWhereTheNextOneDiffers) {
  OutboundDatagram other_path = Sized(100);
  other_path.path.remote_udp_port = 2001;
  EXPECT_EQ(Append({Sized(100), other_path}), 1u);
  OutboundDatagram other_mark = Sized(100);
  other_mark.ecn = Ecn::kNotEct;
  EXPECT_EQ(Append({Sized(100), other_mark}), 1u);
  OutboundDatagram fragmentable = Sized(100);
  fragmentable.may_fragment = true;
  EXPECT_EQ(Append({Sized(100), fragmentable}), 1u);
  EXPECT_EQ(Append({fragmentable, fragmentable}), 1u);
}

TEST_F(SendBatchTest, DoesNotSegmentWhereTheSocketCannot) {
  const std::vector<OutboundDatagram> out(10, Sized(100));
  EXPECT_EQ(batch_.Append(out, {.family = IpFamily::kV4, .segment = false}), 1u);
}

TEST_F(SendBatchTest, FillsUpAndStartsAnew) {
  std::size_t messages = 0;
  while (Append({Sized(10)}) == 1) ++messages;
  EXPECT_EQ(messages, SendBatch::kMaxMessages);
  batch_.Clear();
  EXPECT_EQ(batch_.messages(), 0u);
  EXPECT_EQ(Append({Sized(10)}), 1u);
}

TEST_F(SendBatchTest, NeverExceedsItsVectors) {
  std::size_t datagrams = 0;
  while (const std::size_t taken = Append(std::vector(60, Sized(10)))) datagrams += taken;
  EXPECT_EQ(datagrams, SendBatch::kMaxIovecs);
}

}  // namespace
}  // namespace dccp
