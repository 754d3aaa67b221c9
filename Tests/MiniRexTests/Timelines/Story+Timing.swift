import MiniRex
import MiniRexTesting
import TestSupport

extension Story {
  static let timing: [Story] = [
    Story("debounce waits until it is quiet") {
      let letters = $0.broadcaster("ab-c------|")
      $0.expect(
        "                   ------c---|", from: letters.debounce(for: .seconds(3), clock: $0.clock))
    },
    Story("debounce delivers what is pending when the source ends") {
      let letters = $0.broadcaster("a----b|")
      $0.expect(
        "                   ---a--(b|)", from: letters.debounce(for: .seconds(3), clock: $0.clock))
    },
    Story("debounce takes what comes when the time is over for the next") {
      let letters = $0.broadcaster("a-b---|")
      $0.expect(
        "                   --a-b-|", from: letters.debounce(for: .seconds(2), clock: $0.clock))
    },
    Story("debounce of a value gives the first at once, and skips what has been undone") {
      let letter = $0.value("a-ba---b---|")
      $0.expect(
        "             a--------b-|", from: letter.debounce(for: .seconds(2), clock: $0.clock))
    },
    Story("debounce forgets what is pending when its subscriber leaves") {
      let letters = $0.broadcaster("a-----b---|")
      let calm = letters.debounce(for: .seconds(2), clock: $0.clock)
      $0.expect("                   -----------", during: "^!", from: calm)
      $0.expect("                   --------b-|", during: "-^", from: calm)
    },
    Story("throttle gives the first at once, then the latest of each interval") {
      let letters = $0.broadcaster("abcdef----|")
      $0.expect(
        "                   a--c--f---|", from: letters.throttle(for: .seconds(3), clock: $0.clock))
    },
    Story("throttle without latest leaves out what comes in an interval") {
      let letters = $0.broadcaster("abcdef----|")
      let first = letters.throttle(for: .seconds(3), latest: false, clock: $0.clock)
      $0.expect("                   a--d------|", from: first)
    },
    Story("throttle delivers what is pending when the source ends") {
      let letters = $0.broadcaster("ab|")
      $0.expect(
        "                   a-(b|)", from: letters.throttle(for: .seconds(5), clock: $0.clock))
    },
    Story("throttle of a value never loses the last change") {
      let letter = $0.value("abc----|")
      let calm = letter.throttle(for: .seconds(3), latest: false, clock: $0.clock)
      $0.expect("             a--c---|", from: calm)
    },
    Story("throttle of a value skips what has been undone") {
      let letter = $0.value("aba----c|")
      $0.expect("             a------c|", from: letter.throttle(for: .seconds(3), clock: $0.clock))
    },
    Story("chunks in time begin with their first, and the rest comes at the end") {
      let letters = $0.broadcaster("ab----cd-e|")
      let chunks = letters.chunked(every: .seconds(2), clock: $0.clock)
      let words = ["x": ["a", "b"], "y": ["c", "d"], "z": ["e"]] as [Character: [Character]]
      $0.expect("                   --x-----y-(z|)", words, from: chunks)
    },
    Story("chunks by both come when they are full, or when the time is over") {
      let letters = $0.broadcaster("abc---de----|")
      let chunks = letters.chunked(by: 2, every: .seconds(3), clock: $0.clock)
      let words = ["x": ["a", "b"], "y": ["c"], "z": ["d", "e"]] as [Character: [Character]]
      $0.expect("                   -x---y-z----|", words, from: chunks)
    },
    Story("delay delivers each as much later, also the end") {
      let letters = $0.broadcaster("a(bc)-d|")
      $0.expect(
        "                   --a   (bc)-(d|)", from: letters.delay(for: .seconds(2), clock: $0.clock)
      )
    },
    Story("delay of a value is late with its first, too") {
      let letter = $0.value("a-b--|")
      $0.expect("             --a-b|", from: letter.delay(for: .seconds(2), clock: $0.clock))
    },
    Story("delay forgets what waits when its subscriber leaves") {
      let letters = $0.broadcaster("abc---|")
      $0.expect(
        "                   --a----", during: "^--!",
        from: letters.delay(for: .seconds(2), clock: $0.clock))
    },
    Story("delay of a task delays its result") {
      let fetch = $0.task("-a")
      $0.expect("          ---(a|)", from: fetch.delay(for: .seconds(2), clock: $0.clock))
    },
    Story("a sequence takes an interval for each") {
      let letters = Broadcaster<Character>.sequence(
        ["a", "b"], every: .seconds(2), clock: $0.clock)
      $0.expect("--a-(b|)", from: letters)
      $0.expect("---a-(b|)", during: "-^", from: letters)
    },
    Story("a clock ticks at whole multiples, for each subscriber from its beginning") {
      let ticks = $0.clock.broadcaster(every: .seconds(2)).map { Int($0.components.seconds) }
      $0.expect("--2-4-6", from: ticks)
      $0.expect("---2-4-", during: "-^", from: ticks)
    },
  ]

  static let tasks: [Story] = [
    Story("a task gives its result to late subscribers too") {
      let fetch = $0.task("--a")
      $0.expect("          --(a|)", from: fetch)
      $0.expect("          ----(a|)", during: "----^", from: fetch)
    },
    Story("a task may end without a result") {
      let fetch = $0.task("--|")
      $0.expect("          --|", from: fetch)
    },
    Story("map of a task transforms its success, and leaves a failure") {
      let fetch = $0.task(" --a")
      let failure = $0.task("--X")
      $0.expect("           --(b|)", from: fetch.map { _ in "b" })
      $0.expect("           --(X|)", from: failure.map { _ in "b" })
    },
    Story("mapError of a task transforms its failure") {
      let failure = $0.task("--X")
      $0.expect("            --(Y|)", from: failure.mapError { _ in Trouble(name: "Y") })
    },
    Story("flatMap goes on with another task after a success") {
      let login = $0.task("-a")
      let fetch = $0.task("---b")
      $0.expect("          ---(b|)", from: login.flatMap { _ in fetch })
    },
    Story("flatMap does not go on after a failure") {
      let login = $0.task("-X")
      let fetch = $0.task("---b")
      $0.expect("          -(X|)", from: login.flatMap { _ in fetch })
    },
    Story("recover goes on with another task after a failure") {
      let fetch = $0.task("-X")
      let other = $0.task("---b")
      $0.expect("          ---(b|)", from: fetch.recover { _ in other })
    },
    Story("all waits for all") {
      let one = $0.task("-a")
      let two = $0.task("---b")
      let both: PublishedTask<[Character], Trouble> = all([one, two])
      $0.expect("        ---(b|)", from: both.map { $0.last ?? "?" })
    },
    Story("all fails with the first failure") {
      let one = $0.task("-----a")
      let two = $0.task("---X")
      let both: PublishedTask<[Character], Trouble> = all([one, two])
      $0.expect("        ---(X|)", from: both.map { $0.last ?? "?" })
    },
    Story("timeout fails when the time is over, and not before") {
      let slow = $0.task("-----a").timeout(after: .seconds(3), clock: $0.clock)
      let fast = $0.task("--a").timeout(after: .seconds(3), clock: $0.clock)
      $0.expect("         ---(X|)", from: slow.mapError { _ in Trouble(name: "X") })
      $0.expect("         --(a|)", from: fast.mapError { _ in Trouble(name: "X") })
    },
    Story("flatMapLatest of tasks has the result of the last one only") {
      let one = $0.task("      ---a")
      let two = $0.task("      -----b")
      let words = $0.broadcaster("x-y----|", ["x": one, "y": two])
      $0.expect(
        "                        -----b-|", results, from: words.flatMapLatest { $0 })
    },
  ]
}
