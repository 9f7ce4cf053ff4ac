#include "stack/conn/cookie_echo.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <vector>

#include "stack/wire/option_codec.h"

namespace dccp {
namespace {

using Bytes = std::vector<std::byte>;

class CookieEchoTest : public ::testing::Test {
 protected:
  bool Take(std::int64_t seq, std::initializer_list<Bytes> cookies,
            std::size_t room = CookieEcho::kMaxBytes) {
    std::vector<std::span<const std::byte>> spans;
    for (const Bytes& cookie : cookies) spans.emplace_back(cookie);
    return echo_.OnResponse(Seq64(seq), spans, room);
  }
  Bytes Written() const {
    std::array<std::byte, OptionWriter::kMaxBytes> area;
    OptionWriter out(area);
    echo_.Write(out);
    return {out.bytes().begin(), out.bytes().end()};
  }
  static Bytes Options(std::initializer_list<Bytes> cookies) {
    Bytes out;
    for (const Bytes& cookie : cookies) {
      out.push_back(std::byte{36});
      out.push_back(static_cast<std::byte>(cookie.size() + 2));
      out.insert(out.end(), cookie.begin(), cookie.end());
    }
    return out;
  }

  const Bytes a_ = Bytes(4, std::byte{0xA});
  const Bytes b_ = Bytes(253, std::byte{0xB});
  CookieEcho echo_;
};

TEST_F(CookieEchoTest, NothingWithoutCookies) {
  EXPECT_TRUE(echo_.empty());
  EXPECT_TRUE(Take(10, {}));
  EXPECT_TRUE(echo_.empty());
  EXPECT_EQ(Written(), Bytes());
}

TEST_F(CookieEchoTest, R4340_COOK_02_UnalteredAndInOrder) {
  EXPECT_TRUE(Take(10, {a_, b_, {}, a_}));
  EXPECT_EQ(Written(), Options({a_, b_, {}, a_}));
  EXPECT_EQ(echo_.bytes(), 6u + 255 + 2 + 6);
  EXPECT_EQ(Written(), Options({a_, b_, {}, a_}));
}

TEST_F(CookieEchoTest, R4340_COOK_02_ThoseOfTheNewestResponse) {
  EXPECT_TRUE(Take(10, {a_}));
  EXPECT_TRUE(Take(11, {b_}));
  EXPECT_EQ(Written(), Options({b_}));
  // Overtaken by its repetition.
  EXPECT_TRUE(Take(10, {a_}));
  EXPECT_EQ(Written(), Options({b_}));
  // The server keeps state by now.
  EXPECT_TRUE(Take(12, {}));
  EXPECT_TRUE(echo_.empty());
}

TEST_F(CookieEchoTest, R4340_COOK_02_StopsOnceTheServerHasOne) {
  EXPECT_TRUE(Take(10, {a_}));
  echo_.Stop();
  EXPECT_TRUE(echo_.empty());
  EXPECT_EQ(Written(), Bytes());
}

TEST_F(CookieEchoTest, R4340_COOK_04_TakesNoMoreThanCanBeCarried) {
  EXPECT_TRUE(Take(10, {b_, b_, b_}));
  EXPECT_FALSE(Take(11, {b_, b_, b_, a_}));
  EXPECT_EQ(Written(), Options({b_, b_, b_})) << "a refusal changes nothing";
  EXPECT_TRUE(Take(12, {{}, {}, {}, {}, {}, {}, {}, {}}));
  EXPECT_FALSE(Take(13, {{}, {}, {}, {}, {}, {}, {}, {}, {}}));
  EXPECT_TRUE(Take(14, {a_}, 6));
  EXPECT_FALSE(Take(15, {a_}, 5));
}

}  // namespace
}  // namespace dccp
