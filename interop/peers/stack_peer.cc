// stack_peer: one end of an interop connection, on the library; see peers/README.md.
#include "interop/peers/peer.h"
#include "interop/peers/peer_options.h"

int main(int argc, char** argv) {
  dccp::interop::PeerOptions options;
  int exit_code = 0;
  if (!dccp::interop::ParsePeerOptions(argc, argv, &options, &exit_code)) return exit_code;
  dccp::interop::Peer peer(options);
  if (!peer.Open()) return 1;
  peer.Run();
  return 0;
}
