import TestSupport
import Testing

@Suite(.light, .serialized) struct StateSearchTests {
  @Test(arguments: ProgramGroup.all)
  func `R1 to R6, R8, R11, R13, R14, R16, and R24 hold in every state`(of group: ProgramGroup) {
    // A single-threaded search is slow under a sanitizer, and one program is enough there.
    let step = scale < 1 ? group.programs.count : max(1, Int(Double(group.every) / scale))
    var programs = 0
    var states = 0
    for index in stride(from: 0, to: group.programs.count, by: step) {
      let search = StateSearch<Machine>(group.programs[index])
      programs += 1
      states += search.states
      if let breach = search.breach {
        Issue.record("\(breach)")
        return
      }
    }
    print("state search, \(group.name): \(programs) programs, \(states) states")
  }
}
