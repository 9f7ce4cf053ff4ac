// Ports that other programs on the host use. See PortArbiter.
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/endpoint/endpoint_fixture.h"

namespace dccp {
namespace {

constexpr TimePoint kNow = TimePoint(std::chrono::seconds(100));

class FakeArbiter final : public PortArbiter {
 public:
  bool Claim(std::uint16_t port) override {
    if (port == other) return false;
    ++claims[port];
    return true;
  }
  void Release(std::uint16_t port) override {
    if (--claims[port] == 0) claims.erase(port);
  }
  bool TakenElsewhere(std::uint16_t port) override { return port == other; }

  std::uint16_t other = 5001;  // another program's
  std::map<std::uint16_t, int> claims;
};

class PortArbiterTest : public ::testing::Test {
 protected:
  PortArbiterTest() : random_(1) {
    registry_.Add(ccid2_);
    EndpointConfig config;
    config.encapsulation = Encapsulation::kNative;
    config.registry = &registry_;
    config.random = &random_;
    config.port_arbiter = &arbiter_;
    endpoint_ = std::move(Endpoint::Create(config).value());
  }
  // How many packets the endpoint sends in answer to a Request to `port`.
  std::size_t AnswersToRequest(std::uint16_t port) {
    HeaderFields fields;
    fields.type = PacketType::kRequest;
    fields.source_port = 6000;
    fields.destination_port = port;
    const Bytes bytes = MakePacket(fields, NativePath(), 0);
    const InboundDatagram in = {bytes, 0, NativePath(), Ecn::kNotEct};
    endpoint_->Receive({&in, 1}, kNow);
    std::array<OutboundDatagram, 4> out;
    return endpoint_->Transmit(out, kNow);
  }

  Ccid2Factory ccid2_;
  CcidRegistry registry_;
  TestRandom random_;
  FakeArbiter arbiter_;
  std::unique_ptr<Endpoint> endpoint_;
};

TEST_F(PortArbiterTest, RefusesOnlyWhatBelongsToNobody) {
  EXPECT_EQ(AnswersToRequest(5001), 0u);
  EXPECT_EQ(AnswersToRequest(5002), 1u);
  EXPECT_EQ(endpoint_->counters().dropped[static_cast<std::size_t>(DropReason::kNotForUs)], 1u);
}

TEST_F(PortArbiterTest, AnotherProgramsPortIsInUse) {
  ListenParams listen;
  listen.port = 5001;
  ASSERT_FALSE(endpoint_->Listen(listen).ok());
  EXPECT_EQ(endpoint_->Listen(listen).error(), Error::kPortInUse);
  ConnectParams connect;
  connect.path = NativePath();
  connect.remote_port = 7000;
  connect.local_port = 5001;
  EXPECT_EQ(endpoint_->Connect(connect, kNow).error(), Error::kPortInUse);
  EXPECT_TRUE(arbiter_.claims.empty());
}

TEST_F(PortArbiterTest, ClaimsLastAsLongAsTheirUse) {
  ListenParams listen;
  listen.port = 5003;
  const auto a = endpoint_->Listen(listen);
  listen.service_codes = {ServiceCode(7)};
  const auto b = endpoint_->Listen(listen);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(arbiter_.claims[5003], 2);
  EXPECT_FALSE(endpoint_->Listen(listen).ok());
  EXPECT_EQ(arbiter_.claims[5003], 2);
  EXPECT_TRUE(endpoint_->StopListening(*a).ok());
  EXPECT_EQ(arbiter_.claims[5003], 1);

  ConnectParams connect;
  connect.path = NativePath();
  connect.remote_port = 7000;
  const auto conn = endpoint_->Connect(connect, kNow);
  ASSERT_TRUE(conn.ok());
  EXPECT_EQ(arbiter_.claims.size(), 2u);
  endpoint_->Release(*conn, kNow);
  std::array<OutboundDatagram, 8> out;
  while (endpoint_->Transmit(out, kNow) != 0) {
  }
  EXPECT_EQ(arbiter_.claims.size(), 1u);
  endpoint_.reset();
  EXPECT_TRUE(arbiter_.claims.empty());
}

}  // namespace
}  // namespace dccp
