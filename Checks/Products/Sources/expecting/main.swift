import MiniRexStore
import MiniRexStoreTesting

try await withTestStore(
  0,
  reducer: { (state: inout Int, action: Int) in
    state += action
    return .none
  }
) { store in
  try store.send(1) { $0 = 1 }
}
