import MiniRex
import TestSupport
import Testing

@Suite(.light) struct MiniRexSamples {
  @Test func `the landing page shows a source, an operator, and a subscription`() {
    let paper = Paper()
    let print = paper.print

    let temperature = PublishedProperty(19.6)

    let subscription = temperature.publisher
      .map { Int($0.rounded()) }
      .subscribe { print("\($0) °C") }

    temperature.value = 20.3
    temperature.value = 21.5
    subscription.invalidate()
    temperature.value = 30
    #expect(paper.lines == ["20 °C", "22 °C"])
  }
}
