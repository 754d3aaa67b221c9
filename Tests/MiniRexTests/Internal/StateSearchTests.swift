import Testing

@Suite(.serialized) struct StateSearchTests {
  @Test(arguments: ProgramGroup.all)
  func `R1 to R6, R8, R11, R13, R14, R16 and R24 hold in every state`(of group: ProgramGroup) {
    var states = 0
    let start = ContinuousClock.now
    for program in group.programs {
      let search = StateSearch(program)
      states += search.states
      if let breach = search.breach {
        Issue.record("\(breach)")
        return
      }
    }
    print("state search, \(group.name): \(group.programs.count) programs, \(states) states", ContinuousClock.now - start)
  }
}
