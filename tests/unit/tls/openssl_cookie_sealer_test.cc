#include "dccp/openssl_cookie_sealer.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dccp {
namespace {

using std::chrono::seconds;
using Bytes = std::vector<std::byte>;

constexpr TimePoint kStart = TimePoint(seconds(1000));
constexpr Duration kRotation = seconds(60);

Bytes Of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class OpenSslCookieSealer : public ::testing::Test {
 protected:
  Bytes Seal(std::string_view context, std::string_view text, TimePoint now = kStart) {
    Bytes out(text.size() + sealer_->overhead_bytes());
    EXPECT_TRUE(sealer_->Seal(Of(context), Of(text), now, out));
    return out;
  }
  std::optional<std::string> Open(std::string_view context, const Bytes& sealed,
                                  TimePoint now = kStart) {
    Bytes out(sealed.size() - sealer_->overhead_bytes());
    if (!sealer_->Open(Of(context), sealed, now, out)) return std::nullopt;
    std::string text;
    for (std::byte b : out) text += static_cast<char>(b);
    return text;
  }

  std::unique_ptr<CookieSealer> sealer_ = MakeOpenSslCookieSealer(kRotation);
};

TEST_F(OpenSslCookieSealer, R4340_COOK_03_OpensWhatItSealed) {
  for (const std::string& text : {std::string(), std::string("x"), std::string(700, 'y')})
    EXPECT_EQ(Open("flow", Seal("flow", text)), text);
}

TEST_F(OpenSslCookieSealer, R4340_COOK_03_EveryFlippedBitShows) {
  const Bytes sealed = Seal("flow", "the state of a connection");
  for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    Bytes tampered = sealed;
    tampered[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    EXPECT_EQ(Open("flow", tampered), std::nullopt) << "bit " << bit;
  }
  EXPECT_EQ(Open("flow", sealed), "the state of a connection");
}

TEST_F(OpenSslCookieSealer, R4340_COOK_03_IsBoundToItsContext) {
  const Bytes sealed = Seal("flow 1", "text");
  EXPECT_EQ(Open("flow 2", sealed), std::nullopt);
  EXPECT_EQ(Open("", sealed), std::nullopt);
  EXPECT_EQ(Open("flow 1", sealed), "text");
}

TEST_F(OpenSslCookieSealer, R4340_COOK_03_ShortenedOrLengthenedItFails) {
  const Bytes sealed = Seal("flow", "some text");
  for (std::size_t n = sealer_->overhead_bytes(); n < sealed.size(); ++n)
    EXPECT_EQ(Open("flow", {sealed.begin(), sealed.begin() + static_cast<std::ptrdiff_t>(n)}),
              std::nullopt);
  Bytes longer = sealed;
  longer.push_back(std::byte{0});
  EXPECT_EQ(Open("flow", longer), std::nullopt);
}

TEST_F(OpenSslCookieSealer, TheTextIsHiddenAndNoTwoAreAlike) {
  std::set<Bytes> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(Seal("flow", "the same text")).second);
  const Bytes sealed = *seen.begin();
  const Bytes text = Of("the same text");
  EXPECT_EQ(std::search(sealed.begin(), sealed.end(), text.begin(), text.end()), sealed.end());
}

TEST_F(OpenSslCookieSealer, AFailedOpenLeavesNothingOfTheText) {
  Bytes sealed = Seal("flow", "the text");
  sealed.back() ^= std::byte{1};
  Bytes out(sealed.size() - sealer_->overhead_bytes(), std::byte{0x55});
  EXPECT_FALSE(sealer_->Open(Of("flow"), sealed, kStart, out));
  EXPECT_EQ(out, Bytes(out.size(), std::byte{0}));
}

TEST_F(OpenSslCookieSealer, OthersHaveOtherKeys) {
  const auto other = MakeOpenSslCookieSealer(kRotation);
  const Bytes sealed = Seal("flow", "text");
  Bytes out(4);
  EXPECT_FALSE(other->Open(Of("flow"), sealed, kStart, out));
  Bytes again(sealed.size());
  ASSERT_TRUE(other->Seal(Of("flow"), Of("text"), kStart, again));
  EXPECT_NE(again, sealed);
  EXPECT_FALSE(other->Open(Of("flow"), sealed, kStart, out));
}

TEST_F(OpenSslCookieSealer, R4340_COOK_03_KeysRotate) {
  const Bytes first = Seal("flow", "first");
  // Sealed with the old key at the end of its time, with a new one after it.
  const Bytes last = Seal("flow", "last", kStart + kRotation - seconds(1));
  EXPECT_EQ(first[0], last[0]);
  const Bytes next = Seal("flow", "next", kStart + kRotation);
  EXPECT_NE(last[0], next[0]);
  // Each lives for one rotation at least.
  const TimePoint later = kStart + 2 * kRotation - seconds(1);
  EXPECT_EQ(Open("flow", last, later), "last");
  EXPECT_EQ(Open("flow", next, later), "next");
  // The old key goes, whether or not anything is sealed meanwhile.
  EXPECT_EQ(Open("flow", last, kStart + 2 * kRotation), std::nullopt);
  EXPECT_EQ(Open("flow", next, kStart + 2 * kRotation), "next");
  EXPECT_EQ(Open("flow", next, kStart + 3 * kRotation), std::nullopt);
}

TEST_F(OpenSslCookieSealer, KeysKeepRotatingForLong) {
  TimePoint now = kStart;
  for (int i = 0; i < 600; ++i) {
    const Bytes sealed = Seal("flow", "text", now);
    EXPECT_EQ(Open("flow", sealed, now + kRotation), "text") << i;
    now += kRotation;
    EXPECT_EQ(Open("flow", Seal("flow", "more", now), now), "more");
    EXPECT_EQ(Open("flow", sealed, now), "text") << i;
  }
}

TEST(MakeOpenSslCookieSealer, RefusesARotationOfNoLength) {
  EXPECT_EQ(MakeOpenSslCookieSealer(Duration::zero()), nullptr);
  EXPECT_EQ(MakeOpenSslCookieSealer(-seconds(1)), nullptr);
}

}  // namespace
}  // namespace dccp
