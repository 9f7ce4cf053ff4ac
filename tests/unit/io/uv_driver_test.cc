#include "dccp/uv_driver.h"

#include <array>
#include <optional>

#include "dccp/ccid2.h"
#include "stack/io/monotonic_clock.h"
#include "stack/io/raw_socket.h"
#include "tests/unit/io/loopback.h"

namespace dccp {
namespace {

// In native mode a port belongs to one program of the host; tests run side by side.
std::uint16_t DccpPort() { return static_cast<std::uint16_t>(20000 + getpid() % 20000); }

// A loop of its own with a guard timer, so that a test that waits for something that never comes
// fails instead of hanging.
class Loop {
 public:
  Loop() {
    uv_loop_init(&loop_);
    uv_timer_init(&loop_, &guard_);
    guard_.data = this;
    uv_unref(reinterpret_cast<uv_handle_t*>(&guard_));
    uv_timer_start(
        &guard_,
        [](uv_timer_t* timer) {
          static_cast<Loop*>(timer->data)->expired_ = true;
          uv_stop(timer->loop);
        },
        kPatienceMs, 0);
  }
  ~Loop() {
    uv_close(reinterpret_cast<uv_handle_t*>(&guard_), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0) << "a handle was left open";
  }
  uv_loop_t* get() { return &loop_; }
  // Until nothing keeps it alive.
  void Run() {
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_FALSE(expired_) << "the loop did not end by itself";
  }
  template <typename Condition>
  bool RunUntil(Condition done) {
    while (!expired_ && !done()) uv_run(&loop_, UV_RUN_ONCE);
    return !expired_;
  }

 private:
  uv_loop_t loop_;
  uv_timer_t guard_;
  bool expired_ = false;
};

class Registry {
 public:
  Registry() { registry_.Add(ccid2_); }
  const CcidRegistry* get() const { return &registry_; }

 private:
  Ccid2Factory ccid2_;
  CcidRegistry registry_;
};

// One end: a driver, and what its events said.
class End {
 public:
  End(Loop& loop, const Registry& registry, Encapsulation encapsulation = Encapsulation::kUdp) {
    UvDriverConfig config;
    config.endpoint.registry = registry.get();
    config.endpoint.encapsulation = encapsulation;
    DriverError error;
    driver_ = UvDriver::Create(loop.get(), config, &error);
    EXPECT_NE(driver_, nullptr) << error.what;
    driver_->SetEventHandler([this](const Event& event) { OnEvent(event); });
  }

  UvDriver& driver() { return *driver_; }
  Endpoint& endpoint() { return driver_->endpoint(); }

  bool Serve(const IpAddress& local, std::uint16_t udp_port,
             std::optional<std::uint32_t> cookies_above = std::nullopt) {
    ListenParams listen;
    listen.cookies_above = cookies_above;
    listen.port = DccpPort();
    EXPECT_TRUE(endpoint().Listen(listen).ok());
    DriverError error;
    return driver_->OpenServer(local, udp_port, false, &error);
  }
  void Connect(const IpAddress& remote, std::uint16_t udp_port) {
    ConnectParams params;
    params.remote_port = DccpPort();
    DriverError error;
    ASSERT_TRUE(driver_->OpenPath(remote, udp_port, nullptr, &params.path, &error)) << error.what;
    path = params.path;
    const Result<ConnId> id = endpoint().Connect(params, driver_->now());
    ASSERT_TRUE(id.ok());
    conn = *id;
  }

  ConnId conn;
  Path path;
  std::uint32_t seen = 0;
  std::size_t received = 0;
  std::size_t to_send = 0;
  bool close_when_sent = false;

 private:
  void OnEvent(const Event& event) {
    seen |= event.bits;
    conn = event.conn;
    if ((event.bits & kEventReadable) != 0) Read();
    if ((event.bits & (kEventConnected | kEventWritable)) != 0) Send();
  }
  void Read() {
    std::array<ReceivedDatagram, 64> datagrams;
    while (const std::size_t count = endpoint().Read(conn, datagrams)) received += count;
  }
  void Send() {
    const std::array<std::byte, 1000> data = {};
    while (to_send > 0 && endpoint().Send(conn, data).ok()) --to_send;
    if (to_send == 0 && close_when_sent) {
      close_when_sent = false;
      EXPECT_TRUE(endpoint().Close(conn, driver_->now()).ok());
    }
  }

  std::unique_ptr<UvDriver> driver_;
};

// A UDP port that was free a moment ago.
std::uint16_t FreeUdpPort(const IpAddress& local) {
  return OpenServer(local)->path().local_udp_port;
}

class UvDriverTest : public testing::TestWithParam<IpFamily> {
 protected:
  UvDriverTest() : loopback_(LoopbackAddress(GetParam())), udp_port_(FreeUdpPort(loopback_)) {}
  IpAddress loopback_;
  std::uint16_t udp_port_;
  Loop loop_;
  Registry registry_;
};
INSTANTIATE_TEST_SUITE_P(Families, UvDriverTest, testing::Values(IpFamily::kV4, IpFamily::kV6),
                         FamilyName);

TEST_P(UvDriverTest, CarriesDataAndEndsWithTheLastConnection) {
  End server(loop_, registry_);
  End client(loop_, registry_);
  ASSERT_TRUE(server.Serve(AnyAddress(GetParam()), udp_port_));
  client.to_send = 5000;
  client.close_when_sent = true;
  client.Connect(loopback_, udp_port_);
  loop_.Run();
  EXPECT_NE(client.seen & kEventConnected, 0u);
  EXPECT_NE(server.seen & kEventAccepted, 0u);
  EXPECT_NE(client.seen & kEventClosed, 0u);
  EXPECT_NE(server.seen & kEventClosed, 0u);
  const auto info = client.endpoint().Info(client.conn);
  ASSERT_TRUE(info.ok());
  EXPECT_TRUE(info->close.clean);
  // All but what a queue may have dropped.
  EXPECT_GT(server.received, 4500u);
}

// The driver brings a sealer with it.
TEST_P(UvDriverTest, R4340_COOK_05_ListensWithoutStateWhereAskedTo) {
  End server(loop_, registry_);
  End client(loop_, registry_);
  ASSERT_TRUE(server.Serve(AnyAddress(GetParam()), udp_port_, 0));
  client.to_send = 10;
  client.close_when_sent = true;
  client.Connect(loopback_, udp_port_);
  loop_.Run();
  EXPECT_NE(server.seen & kEventAccepted, 0u);
  EXPECT_EQ(server.endpoint().counters().cookies_accepted, 1u);
  EXPECT_EQ(server.received, 10u);
  EXPECT_TRUE(client.endpoint().Info(client.conn)->close.clean);
}

TEST_P(UvDriverTest, R6773_PORT_03_GivesEachPathASourcePortOfItsOwn) {
  End client(loop_, registry_);
  Path first;
  Path second;
  DriverError error;
  ASSERT_TRUE(client.driver().OpenPath(loopback_, udp_port_, nullptr, &first, &error));
  ASSERT_TRUE(client.driver().OpenPath(loopback_, udp_port_, nullptr, &second, &error));
  EXPECT_EQ(first.local, loopback_);
  EXPECT_NE(first.local_udp_port, second.local_udp_port);
}

TEST_P(UvDriverTest, R6773_ICMP_01_AnUnreachablePortEndsTheConnection) {
  End client(loop_, registry_);
  client.Connect(loopback_, udp_port_);
  loop_.Run();
  EXPECT_NE(client.seen & kEventClosed, 0u);
  const auto info = client.endpoint().Info(client.conn);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->close.by, ClosedBy::kUnreachable);
  EXPECT_EQ(info->close.icmp, IcmpKind::kPortUnreachable);
}

TEST_P(UvDriverTest, AnIdleServerLivesWhileItIsReferenced) {
  End server(loop_, registry_);
  ASSERT_TRUE(server.Serve(loopback_, udp_port_));
  loop_.Run();  // ends at once
  server.driver().Ref();
  EXPECT_NE(uv_run(loop_.get(), UV_RUN_NOWAIT), 0);
  server.driver().Unref();
  EXPECT_EQ(uv_run(loop_.get(), UV_RUN_NOWAIT), 0);
}

TEST_P(UvDriverTest, DoesNotSpinWhenNothingHappens) {
  End server(loop_, registry_);
  ASSERT_TRUE(server.Serve(loopback_, udp_port_));
  server.driver().Ref();
  int iterations = 0;
  uv_check_t check;
  uv_check_init(loop_.get(), &check);
  check.data = &iterations;
  uv_check_start(&check, [](uv_check_t* handle) { ++*static_cast<int*>(handle->data); });
  uv_timer_t pause;
  uv_timer_init(loop_.get(), &pause);
  uv_timer_start(
      &pause, [](uv_timer_t* timer) { uv_stop(timer->loop); }, 50, 0);
  uv_run(loop_.get(), UV_RUN_DEFAULT);
  EXPECT_LE(iterations, 5);
  uv_close(reinterpret_cast<uv_handle_t*>(&check), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&pause), nullptr);
  server.driver().Unref();
  uv_run(loop_.get(), UV_RUN_DEFAULT);
}

TEST_P(UvDriverTest, LetsOtherHandlesRunDuringATransfer) {
  End server(loop_, registry_);
  End client(loop_, registry_);
  ASSERT_TRUE(server.Serve(loopback_, udp_port_));
  client.to_send = 1u << 30;
  client.Connect(loopback_, udp_port_);
  int ticks = 0;
  uv_timer_t timer;
  uv_timer_init(loop_.get(), &timer);
  timer.data = &ticks;
  uv_timer_start(
      &timer, [](uv_timer_t* t) { ++*static_cast<int*>(t->data); }, 1, 1);
  EXPECT_TRUE(loop_.RunUntil([&] { return ticks >= 50 && server.received > 10000; }));
  uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
  uv_run(loop_.get(), UV_RUN_NOWAIT);
}

// A client whose loop stands still while the server's goes on.
class UvDriverStandstill : public UvDriverTest {
 public:
  // Longer than the client's retransmission timer, in which the server acknowledges what came.
  void StandStill() {
    const TimePoint end = MonotonicClock::Now() + std::chrono::milliseconds(700);
    while (MonotonicClock::Now() < end) uv_run(servers_loop_.get(), UV_RUN_NOWAIT);
  }

 protected:
  void Connect() {
    ASSERT_TRUE(server_.Serve(loopback_, udp_port_));
    server_.driver().Ref();
    client_.Connect(loopback_, udp_port_);
    Both([&] { return (server_.seen & kEventAccepted) != 0; });
    Send(client_);
    Both([&] { return server_.received == 1; });
  }
  void Send(End& end) { ASSERT_TRUE(end.endpoint().Send(end.conn, Bytes(100)).ok()); }
  template <typename Condition>
  void Both(Condition done) {
    const TimePoint end = MonotonicClock::Now() + std::chrono::milliseconds(kPatienceMs);
    while (!done() && MonotonicClock::Now() < end) {
      uv_run(loop_.get(), UV_RUN_NOWAIT);
      uv_run(servers_loop_.get(), UV_RUN_NOWAIT);
    }
    ASSERT_TRUE(done());
  }
  SenderStats Stats() { return client_.endpoint().Info(client_.conn)->sender; }
  void ExpectThatTheTimerWasNotBelieved() {
    Both([&] { return Stats().pipe_packets == 0; });
    EXPECT_EQ(Stats().timeouts, 0u);
  }

  Loop servers_loop_;
  End server_{servers_loop_, registry_};
  End client_{loop_, registry_};
};
INSTANTIATE_TEST_SUITE_P(Families, UvDriverStandstill,
                         testing::Values(IpFamily::kV4, IpFamily::kV6), FamilyName);

TEST_P(UvDriverStandstill, ReadsWhatWaitsBeforeTimersExpire) {
  Connect();
  Send(client_);
  uv_run(loop_.get(), UV_RUN_NOWAIT);
  ASSERT_GT(Stats().pipe_packets, 0u);
  StandStill();
  ExpectThatTheTimerWasNotBelieved();
}

// The sockets were looked at, then a callback of the application held the loop.
TEST_P(UvDriverStandstill, LooksAgainAfterACallbackThatHeldTheLoop) {
  Connect();
  Send(client_);
  uv_run(loop_.get(), UV_RUN_NOWAIT);
  ASSERT_GT(Stats().pipe_packets, 0u);
  // Something for the driver to read, then the callback's cue: the poll reports them in this order.
  Send(server_);
  uv_run(servers_loop_.get(), UV_RUN_NOWAIT);
  uv_async_t held;
  held.data = this;
  uv_async_init(loop_.get(), &held, [](uv_async_t* handle) {
    static_cast<UvDriverStandstill*>(handle->data)->StandStill();
    uv_close(reinterpret_cast<uv_handle_t*>(handle), nullptr);
  });
  uv_async_send(&held);
  ExpectThatTheTimerWasNotBelieved();
  EXPECT_EQ(client_.received, 1u);
}

TEST_P(UvDriverTest, CountsADatagramBelowTheMinimum) {
  End server(loop_, registry_);
  ASSERT_TRUE(server.Serve(loopback_, udp_port_));
  const auto socket = OpenClient(loopback_, udp_port_);
  const std::vector<std::byte> bytes = Bytes(11);
  const OutboundDatagram out = {bytes, socket->path(), Ecn::kNotEct, false};
  SendBatch batch;
  ASSERT_EQ(socket->Send({&out, 1}, batch).taken, 1u);
  server.driver().Ref();
  const auto& dropped = server.endpoint().counters().dropped;
  EXPECT_TRUE(loop_.RunUntil(
      [&] { return dropped[static_cast<std::size_t>(DropReason::kUdpLength)] == 1; }));
  server.driver().Unref();
}

TEST_P(UvDriverTest, SaysWhichAddressIsInUse) {
  End first(loop_, registry_);
  End second(loop_, registry_);
  ASSERT_TRUE(first.Serve(loopback_, udp_port_));
  DriverError error;
  EXPECT_FALSE(second.driver().OpenServer(loopback_, udp_port_, false, &error));
  EXPECT_EQ(error.error, Error::kPortInUse);
  EXPECT_EQ(error.errno_value, EADDRINUSE);
  EXPECT_NE(error.what.find(FormatAddress(loopback_)), std::string::npos) << error.what;
}

TEST_P(UvDriverTest, RefusesARemoteThatIsNoUnicastAddress) {
  End client(loop_, registry_);
  Path path;
  DriverError error;
  EXPECT_FALSE(client.driver().OpenPath(AnyAddress(GetParam()), udp_port_, nullptr, &path, &error));
  EXPECT_EQ(error.error, Error::kInvalidArgument);
  const IpAddress group = Address(GetParam() == IpFamily::kV4 ? "224.0.0.1" : "ff02::1");
  EXPECT_FALSE(client.driver().OpenPath(group, udp_port_, nullptr, &path, &error));
  EXPECT_FALSE(client.driver().OpenPath(loopback_, 0, nullptr, &path, &error));
}

TEST_P(UvDriverTest, NativeCarriesDataBetweenTwoDriversOfOneHost) {
  IoError io;
  if (RawSocket::Open(GetParam(), 1u << 20, &io) == nullptr) GTEST_SKIP() << io.what;
  End server(loop_, registry_, Encapsulation::kNative);
  End client(loop_, registry_, Encapsulation::kNative);
  ASSERT_TRUE(server.Serve(AnyAddress(GetParam()), 0));
  client.to_send = 2000;
  client.close_when_sent = true;
  client.Connect(loopback_, 0);
  loop_.Run();
  EXPECT_GT(server.received, 1800u);
  const auto info = client.endpoint().Info(client.conn);
  ASSERT_TRUE(info.ok());
  EXPECT_TRUE(info->close.clean);
  // Late packets may be refused, but not each end's own, of which there were thousands: the kernel
  // keeps them from the sockets but for the few before a port's first use.
  const auto not_for_us = static_cast<std::size_t>(DropReason::kNotForUs);
  EXPECT_LT(client.endpoint().counters().dropped[not_for_us], 100u);
  EXPECT_LT(server.endpoint().counters().dropped[not_for_us], 100u);
  EXPECT_LT(server.endpoint().counters().resets_without_connection, 100u);
  EXPECT_LT(client.endpoint().counters().resets_without_connection, 100u);
}

TEST(UvDriver, NeedsARegistry) {
  Loop loop;
  DriverError error;
  EXPECT_EQ(UvDriver::Create(loop.get(), {}, &error), nullptr);
  EXPECT_EQ(error.error, Error::kInvalidArgument);
}

}  // namespace
}  // namespace dccp
