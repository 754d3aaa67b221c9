import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

/// Signals belong to a process, so each test has one of its own.
@Suite(.timeLimit(.minutes(20))) struct SignalTests {
  @Test func `a signal is told to every subscriber of every publisher, and does nothing else`()
    async
  {
    await #expect(processExitsWith: .success) {
      let one = DispatchSource.signals(SIGTERM, SIGHUP)
      let recorders = [
        Recorder(one), Recorder(one), Recorder(DispatchSource.signals(SIGTERM)),
      ]

      kill(getpid(), SIGTERM)

      for recorder in recorders {
        guard await recorder.next() == [SIGTERM] else { exit(1) }
      }
      kill(getpid(), SIGHUP)
      guard await recorders[0].next() == [SIGHUP] else { exit(2) }
      guard await recorders[1].next() == [SIGHUP] else { exit(3) }
      guard recorders[2].updates == [SIGTERM] else { exit(4) }
      exit(0)
    }
  }

  @Test func `when the last subscriber leaves, the signal ends the process again`() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      let one = Recorder(DispatchSource.signals(SIGTERM))
      let other = Recorder(DispatchSource.signals(SIGTERM))
      for _ in 0..<100 {
        kill(getpid(), SIGTERM)
        guard await one.next() == [SIGTERM] else { exit(1) }
      }
      one.invalidate()
      kill(getpid(), SIGTERM)
      guard await other.next() == [SIGTERM] else { exit(2) }

      other.invalidate()
      kill(getpid(), SIGTERM)
      waitForTheEnd()
    }
  }

  @Test func `a thread that has a stack for signals gets them there`() async {
    await #expect(processExitsWith: .success) {
      let recorder = Recorder(DispatchSource.signals(SIGTERM))
      var action = sigaction()
      unsafe sigaction(SIGTERM, nil, &action)
      recorder.invalidate()
      exit(Int32(action.sa_flags) & Int32(SA_ONSTACK) == 0 ? 1 : 0)
    }
  }

  @Test func `an action that was set before is restored, one that was set since is left alone`()
    async
  {
    await #expect(processExitsWith: .success) {
      signal(SIGHUP, SIG_IGN)
      let ignored = DispatchSource.signals(SIGHUP)
      Recorder(ignored).invalidate()
      kill(getpid(), SIGHUP)

      let taken = Recorder(DispatchSource.signals(SIGTERM))
      signal(SIGTERM, SIG_IGN)
      taken.invalidate()
      kill(getpid(), SIGTERM)
      // By the time that a later signal is told, the earlier ones have been acted upon.
      let later = Recorder(DispatchSource.signals(SIGUSR1))
      kill(getpid(), SIGUSR1)
      guard await later.next() == [SIGUSR1] else { exit(1) }
      exit(0)
    }
  }

  @Test func `publishers that come and go at once leave the default action behind`() async {
    await #expect(processExitsWith: .signal(SIGHUP)) {
      let signals = DispatchSource.signals(SIGHUP)
      onThreads(4) { _ in
        for round in 0..<200 {
          let publisher = round.isMultiple(of: 2) ? signals : DispatchSource.signals(SIGHUP)
          let subscription = publisher.subscribe { _ in }
          kill(getpid(), SIGHUP)
          subscription.invalidate()
        }
      }
      kill(getpid(), SIGHUP)
      waitForTheEnd()
    }
  }

  #if os(Linux)
    @Test func `the last of the signals is told like any other`() async {
      await #expect(processExitsWith: .success) {
        let last = Recorder(DispatchSource.signals(64, 1))
        kill(getpid(), 64)
        guard await last.next() == [64] else { exit(1) }
        kill(getpid(), 1)
        guard await last.next() == [1] else { exit(2) }
        exit(0)
      }
    }
  #endif

  @Test func `R23 what cannot be caught stops the program with advice`() async {
    await #expect(processExitsWith: .failure) { _ = DispatchSource.signals(SIGKILL) }
    await #expect(processExitsWith: .failure) { _ = DispatchSource.signals(0) }
    #if os(Linux)
      // The C library keeps it for its threads.
      let reserved = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        _ = DispatchSource.signals(SIGTERM, 33)
      }
      let message = reserved.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
      #expect(message.contains("'signals' cannot catch the signal 33. Leave it out."))
    #endif
  }
}

/// Of a signal that another thread gets; `SIGALRM` is the wrong one.
private func waitForTheEnd() {
  mustEnd()
  while true { pause() }
}
