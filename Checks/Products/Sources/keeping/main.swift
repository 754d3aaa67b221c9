import MiniRex
import MiniRexStore

let store = Store(0) { (state: inout Int, action: Int) in
  state += action
  return action == 1 ? .run { send in send(2) } : .none
}
let subscription = store.publisher.subscribe { print($0) }
try await store.send(1).finished()
print(store.state)
subscription.invalidate()
