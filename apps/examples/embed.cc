// A connection inside a libuv loop of your own. One endpoint is both ends here: it listens on
// 127.0.0.1, connects to itself, sends five datagrams, prints what arrives, and closes.
#include <dccp/ccid2.h>
#include <dccp/uv_driver.h>
#include <unistd.h>
#include <uv.h>

#include <cstdio>
#include <span>
#include <string_view>

int main() {
  uv_loop_t* loop = uv_default_loop();  // the application's; other handles may live on it
  dccp::Ccid2Factory ccid2;
  dccp::CcidRegistry registry;
  registry.Add(ccid2);
  dccp::UvDriverConfig config;
  config.endpoint.registry = &registry;
  dccp::DriverError error;
  auto driver = dccp::UvDriver::Create(loop, config, &error);
  if (driver == nullptr) return std::fprintf(stderr, "embed: %s\n", error.what.c_str()), 1;

  dccp::IpAddress host;
  dccp::ParseAddress("127.0.0.1", &host);
  auto udp_port = static_cast<std::uint16_t>(20000 + getpid() % 20000);
  for (int tries = 0; !driver->OpenServer(host, udp_port, false, &error); ++udp_port)
    if (++tries == 50) return std::fprintf(stderr, "embed: %s\n", error.what.c_str()), 1;

  dccp::ListenParams listen;
  listen.port = 5001;
  dccp::ConnectParams connect;
  connect.remote_port = 5001;
  dccp::Endpoint& endpoint = driver->endpoint();
  if (!driver->OpenPath(host, udp_port, nullptr, &connect.path, &error) ||
      !endpoint.Listen(listen) || !endpoint.Connect(connect, driver->now()))
    return std::fprintf(stderr, "embed: cannot connect\n"), 1;

  int arrived = 0;
  driver->SetEventHandler([&](const dccp::Event& event) {
    if ((event.bits & dccp::kEventConnected) != 0) {
      for (std::string_view text : {"one", "two", "three", "four", "five"})
        if (!endpoint.Send(event.conn, std::as_bytes(std::span(text)))) std::puts("not sent");
      if (!endpoint.Close(event.conn, driver->now()))
        std::puts("not closed");  // sends, then closes
    }
    dccp::ReceivedDatagram datagram;
    for (; endpoint.Read(event.conn, std::span(&datagram, 1)) == 1; ++arrived)
      std::printf("%.*s\n", static_cast<int>(datagram.bytes.size()),
                  reinterpret_cast<const char*>(datagram.bytes.data()));
    if ((event.bits & dccp::kEventClosed) != 0) endpoint.Release(event.conn, driver->now());
  });
  uv_run(loop, UV_RUN_DEFAULT);  // ends by itself once the connections have
  driver.reset();
  uv_run(loop, UV_RUN_DEFAULT);  // lets the driver's handles close
  return arrived == 5 ? 0 : 1;
}
