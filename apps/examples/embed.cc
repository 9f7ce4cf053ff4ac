// A connection inside a libuv loop of your own: connects to `dccp-recv --echo`, sends five
// datagrams, prints what comes back, closes.
//   embed 127.0.0.1 [UDP-PORT]
#include <dccp/ccid2.h>
#include <dccp/uv_driver.h>
#include <uv.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

int main(int argc, char** argv) {
  uv_loop_t* loop = uv_default_loop();  // the application's; other handles may live on it
  dccp::Ccid2Factory ccid2;
  dccp::CcidRegistry registry;
  registry.Add(ccid2);
  dccp::UvDriverConfig config;
  config.endpoint.registry = &registry;
  dccp::DriverError error;
  auto driver = dccp::UvDriver::Create(loop, config, &error);

  dccp::IpAddress remote;
  dccp::ConnectParams params;
  const int port = argc > 2 ? std::atoi(argv[2]) : dccp::kDefaultUdpPort;
  if (driver == nullptr || argc < 2 || !dccp::ParseAddress(argv[1], &remote) ||
      !driver->OpenPath(remote, static_cast<std::uint16_t>(port), nullptr, &params.path, &error)) {
    std::fprintf(stderr, "embed: %s\n", argc < 2 ? "give an address" : error.what.c_str());
    return 1;
  }
  params.remote_port = 5001;
  params.service_code = *dccp::ServiceCode::Parse("PERF");

  dccp::Endpoint& endpoint = driver->endpoint();
  int echoes = 0;
  driver->SetEventHandler([&](const dccp::Event& event) {
    if ((event.bits & dccp::kEventConnected) != 0)
      for (std::string_view text : {"one", "two", "three", "four", "five"})
        if (!endpoint.Send(event.conn, std::as_bytes(std::span(text)))) std::abort();
    dccp::ReceivedDatagram datagram;
    while (endpoint.Read(event.conn, std::span(&datagram, 1)) == 1) {
      std::printf("%.*s\n", static_cast<int>(datagram.bytes.size()),
                  reinterpret_cast<const char*>(datagram.bytes.data()));
      if (++echoes == 5 && !endpoint.Close(event.conn, driver->now())) std::abort();
    }
    if ((event.bits & dccp::kEventClosed) != 0) endpoint.Release(event.conn, driver->now());
  });
  if (!endpoint.Connect(params, driver->now())) return 1;
  uv_run(loop, UV_RUN_DEFAULT);  // ends by itself once the connection has
  driver.reset();
  uv_run(loop, UV_RUN_DEFAULT);  // lets the driver's handles close
  return echoes == 5 ? 0 : 1;
}
