#include "stack/wire/ack_vector_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;
using ::testing::ElementsAre;

std::vector<AckVectorRun> Runs(const Bytes& data) {
  std::vector<AckVectorRun> out;
  AckVectorReader reader(data);
  for (AckVectorRun run; reader.Next(&run);) out.push_back(run);
  return out;
}

// Option 26 03 02 of an Ack captured from Linux 6.1.192: the three newest packets were received.
TEST(AckVectorCodec, CapturedVector) {
  EXPECT_THAT(Runs(FromHex("02")), ElementsAre(AckVectorRun{AckState::kReceived, 3}));
}

// RFC 4340 §11.4, at Acknowledgement Number 100: 100 received, 99 lost, 98-95 received, 94 marked,
// 93-88 received.
TEST(AckVectorCodec, R4340_AV_01_ExampleOfTheRfc) {
  EXPECT_THAT(
      Runs(ToBytes({0, 192, 3, 64, 5})),
      ElementsAre(AckVectorRun{AckState::kReceived, 1}, AckVectorRun{AckState::kNotReceived, 1},
                  AckVectorRun{AckState::kReceived, 4}, AckVectorRun{AckState::kMarked, 1},
                  AckVectorRun{AckState::kReceived, 6}));
  EXPECT_EQ(AckVectorPackets(ToBytes({0, 192, 3, 64, 5})), 13u);
}

TEST(AckVectorCodec, R4340_AV_01_Bug_D3_EveryByteRoundTrips) {
  for (unsigned v = 0; v < 256; ++v) {
    const AckVectorCell cell = DecodeAckCell(static_cast<std::byte>(v));
    EXPECT_EQ(static_cast<unsigned>(cell.state), v >> 6);
    EXPECT_EQ(cell.run_length, v & 63);
    EXPECT_EQ(cell.packets(), (v & 63) + 1);
    EXPECT_EQ(EncodeAckCell(cell), static_cast<std::byte>(v));
  }
}

TEST(AckVectorCodec, AdjacentCellsOfOneStateAreOneRun) {
  EXPECT_THAT(Runs(ToBytes({63, 63, 0, 255, 192})),
              ElementsAre(AckVectorRun{AckState::kReceived, 129},
                          AckVectorRun{AckState::kNotReceived, 65}));
}

TEST(AckVectorCodec, R4340_AV_09_ReservedStateIsARunOfItsOwn) {
  EXPECT_THAT(Runs(ToBytes({0, 0x81, 0})), ElementsAre(AckVectorRun{AckState::kReceived, 1},
                                                       AckVectorRun{AckState::kReserved, 2},
                                                       AckVectorRun{AckState::kReceived, 1}));
}

TEST(AckVectorCodec, R4340_AV_03_LargestOption) {
  const Bytes full(kMaxAckCellsPerOption, std::byte{63});
  EXPECT_EQ(AckVectorPackets(full), 16192u);
  EXPECT_THAT(Runs(full), ElementsAre(AckVectorRun{AckState::kReceived, 16192}));
  EXPECT_TRUE(Runs({}).empty());
}

TEST(AckVectorCodec, R4340_AV_15_TypeCarriesTheNonceEcho) {
  EXPECT_EQ(NonceEcho(OptionType::kAckVectorNonce0), 0u);
  EXPECT_EQ(NonceEcho(OptionType::kAckVectorNonce1), 1u);
  EXPECT_EQ(AckVectorType(0), OptionType::kAckVectorNonce0);
  EXPECT_EQ(AckVectorType(1), OptionType::kAckVectorNonce1);
}

}  // namespace
}  // namespace dccp
