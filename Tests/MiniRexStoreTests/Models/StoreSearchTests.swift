import MiniRex
import MiniRexStore
import TestSupport
import Testing

@Suite(.light) struct StoreSearchTests {
  @Test(arguments: StoreProgram.all.indices)
  func `S9 no interleaving loses, doubles, reorders, or blocks an action`(program: Int)
    async
  {
    // A search takes minutes under a sanitizer and finds the same.
    if scale < 1, program < StoreProgram.all.count - 1 { return }
    let breach = Shared<String?>(nil)
    await onQueue {
      let search = StateSearch<StoreMachine>(StoreProgram.all[program])
      breach.value = search.breach
      print("store search, program \(program): \(search.states) states")
    }
    #expect(breach.value == nil)
  }
}
