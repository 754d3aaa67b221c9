import Foundation
import MiniRex
import MiniRexInspector
import MiniRexStore

// A page about a store; the program says where it is, and goes on with its work. Every name of the
// inspector is used.
let graph = LiveGraph()
let store = Store(0, name: "sum", instrument: graph)
let inspector = try Inspector(of: graph, port: 0, address: "127.0.0.1", token: "secret")
inspector.watch(store, name: "sum", evenUnseen: true)
store.commit { $0 += 2 }

precondition(inspector.address == "127.0.0.1" && inspector.token == "secret")
precondition(
  inspector.url.absoluteString == "http://127.0.0.1:\(inspector.port)/?token=secret")
precondition(store.subscriberCount == 1)
do {
  _ = try Inspector(of: graph, port: inspector.port)
  preconditionFailure("A port was had twice.")
} catch {
  precondition(error.code == .EADDRINUSE)
}
print(inspector.url, store.state)
