#include "stack/conn/packet_assembler.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "stack/wire/checksum.h"
#include "stack/wire/packet_view.h"

namespace dccp {
namespace {

class PacketAssemblerTest : public ::testing::Test {
 protected:
  PacketAssembler Make(Encapsulation encapsulation) {
    AssemblerConfig config;
    config.slab = &slab_;
    config.tx = &ring_;
    config.encapsulation = encapsulation;
    config.tuple.path.local.bytes = {192, 0, 2, 1};
    config.tuple.path.remote.bytes = {192, 0, 2, 2};
    config.tuple.local_port = 1111;
    config.tuple.remote_port = 2222;
    return PacketAssembler(config);
  }
  PacketView Popped() {
    PacketView view;
    EXPECT_EQ(PacketView::Parse(ring_.Front().cell->bytes(), &view), ParseError::kNone);
    return view;
  }
  void Drop() {
    slab_.Free(ring_.Front().cell);
    ring_.Pop();
  }

  Slab slab_{1 << 20};
  TxRing ring_{128};
};

TEST_F(PacketAssemblerTest, NativePacketsCarryAChecksum_R4340_CSM_02) {
  PacketAssembler assembler = Make(Encapsulation::kNative);
  const std::vector<std::byte> payload(33, std::byte{7});
  HeaderFields fields;
  fields.type = PacketType::kDataAck;
  fields.seq = SeqNo(5);
  fields.ack = SeqNo(6);
  ASSERT_TRUE(assembler.Send(fields, {}, payload, Ecn::kEct0, TimePoint()));
  const PacketView view = Popped();
  EXPECT_EQ(view.source_port(), 1111);
  EXPECT_EQ(view.destination_port(), 2222);
  EXPECT_EQ(view.payload().size(), 33u);
  EXPECT_TRUE(VerifyChecksum(ring_.Front().path.local, ring_.Front().path.remote, view));
  EXPECT_EQ(ring_.Front().ecn, Ecn::kEct0);
  Drop();
}

TEST_F(PacketAssemblerTest, R4340_PKT_11_PaddingIsZerosUnderAGoodChecksum) {
  PacketAssembler assembler = Make(Encapsulation::kNative);
  HeaderFields fields;
  fields.type = PacketType::kSync;
  fields.seq = SeqNo(5);
  fields.ack = SeqNo(6);
  ASSERT_TRUE(assembler.SendPadded(fields, {}, 1001, Ecn::kNotEct, TimePoint()));
  const PacketView view = Popped();
  ASSERT_EQ(view.payload().size(), 1001u);
  for (const std::byte b : view.payload()) ASSERT_EQ(b, std::byte{0});
  EXPECT_TRUE(VerifyChecksum(ring_.Front().path.local, ring_.Front().path.remote, view));
  EXPECT_FALSE(ring_.Front().may_fragment);
  Drop();
  EXPECT_FALSE(assembler.SendPadded(fields, {}, 1 << 20, Ecn::kNotEct, TimePoint()));
  EXPECT_TRUE(ring_.empty());
}

TEST_F(PacketAssemblerTest, R4340_MPS_10_OnRequestEverythingMayBeFragmented) {
  AssemblerConfig config;
  config.slab = &slab_;
  config.tx = &ring_;
  config.may_fragment = true;
  PacketAssembler assembler(config);
  HeaderFields fields;
  fields.type = PacketType::kAck;
  ASSERT_TRUE(assembler.Send(fields, {}, {}, Ecn::kNotEct, TimePoint()));
  EXPECT_TRUE(ring_.Front().may_fragment);
  Drop();
}

TEST_F(PacketAssemblerTest, UdpPacketsCarryNone_R6773_CSM_01) {
  PacketAssembler assembler = Make(Encapsulation::kUdp);
  HeaderFields fields;
  fields.type = PacketType::kAck;
  ASSERT_TRUE(assembler.Send(fields, {}, {}, Ecn::kNotEct, TimePoint()));
  EXPECT_EQ(Popped().checksum(), 0);
  Drop();
}

TEST_F(PacketAssemblerTest, TheHeaderGoesBeforeThePayloadWithoutMovingIt) {
  PacketAssembler assembler = Make(Encapsulation::kUdp);
  Cell* cell = slab_.Allocate(kDataHeadroomBytes + 100);
  cell->offset = kDataHeadroomBytes;
  cell->length = 100;
  std::memset(cell->data + cell->offset, 0x5A, 100);
  const std::byte* payload = cell->data + cell->offset;
  const std::vector<std::byte> options(8, std::byte{0});
  HeaderFields fields;
  fields.type = PacketType::kData;
  assembler.SendCell(fields, options, cell, Ecn::kEct0, TimePoint());
  EXPECT_EQ(Popped().payload().data(), payload);
  EXPECT_EQ(Popped().options().size(), 8u);
  Drop();
}

TEST_F(PacketAssemblerTest, DataStopsBeforeTheRingIsFullControlPacketsAfter) {
  PacketAssembler assembler = Make(Encapsulation::kUdp);
  HeaderFields fields;
  fields.type = PacketType::kSync;
  std::size_t ready = 0;
  while (assembler.Ready()) {
    ASSERT_TRUE(assembler.Send(fields, {}, {}, Ecn::kNotEct, TimePoint()));
    ++ready;
  }
  EXPECT_EQ(ready, 128u - TxRing::kControlReserve);
  while (!ring_.Full()) ASSERT_TRUE(assembler.Send(fields, {}, {}, Ecn::kNotEct, TimePoint()));
  EXPECT_FALSE(assembler.Send(fields, {}, {}, Ecn::kNotEct, TimePoint()));
  while (!ring_.empty()) Drop();
  EXPECT_EQ(slab_.bytes_in_use(), 0u);
}

TEST_F(PacketAssemblerTest, R4340_MPS_10_OnlyTheHandshakeAndResetsMayBeFragmented) {
  PacketAssembler assembler = Make(Encapsulation::kNative);
  for (int t = 0; t <= 9; ++t) {
    HeaderFields fields;
    fields.type = static_cast<PacketType>(t);
    ASSERT_TRUE(assembler.Send(fields, {}, {}, Ecn::kNotEct, TimePoint()));
    EXPECT_EQ(ring_.Front().may_fragment, t == 0 || t == 1 || t == 7) << t;
    Drop();
  }
}

}  // namespace
}  // namespace dccp
