import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The samples of ComputedValues.md.
@Suite(.light) struct ComputedValuesSamples {
  let paper = Paper()
  var print: @Sendable (String) -> Void { paper.print }

  @Test func `dependencies are the values that the last run read`() {
    let print = print
    let price = PublishedProperty(20)
    let count = PublishedProperty(3)
    let isMember = PublishedProperty(false)
    let discount = PublishedProperty(10)

    let total = PublishedValue.computed { read in
      let full = read(price) * read(count)
      return read(isMember) ? full * (100 - read(discount)) / 100 : full
    }
    let subscription = total.subscribe { print("total \($0)") }  // prints total 60
    count.value = 4  // prints total 80
    discount.value = 50  // prints nothing, `discount` was not read
    isMember.value = true  // prints total 40

    #expect(paper.lines == ["total 60", "total 80", "total 40"])
    #expect(total.current() == 40)
    withExtendedLifetime(subscription) {}
  }

  @Test func `a list of properties is read in a loop`() {
    let scores = PublishedProperty([PublishedProperty(1), PublishedProperty(2)])

    let sum = PublishedValue.computed { read in
      var sum = 0
      for score in read(scores) { sum += read(score) }
      return sum
    }

    let recorder = Recorder(sum)
    let removed = scores.value[0]
    scores.value[1].value = 5
    scores.value.removeFirst()
    removed.value = 9
    #expect(recorder.updates == [3, 6, 5])
    #expect(removed.subscriberCount == 0)
  }

  @Test func `one change of a diamond emits once`() {
    let print = print
    let celsius = PublishedProperty(20)
    let fahrenheit = PublishedValue.computed { read in read(celsius) * 9 / 5 + 32 }
    let isHot = PublishedValue.computed { read in read(celsius) > 30 }
    let fan = PublishedValue.computed { read in read(isHot) ? "on" : "off" }
    let label = PublishedValue.computed { read in
      "\(read(celsius)) °C, \(read(fahrenheit)) °F, fan \(read(fan))"
    }
    let subscription = label.subscribe { print($0) }  // prints 20 °C, 68 °F, fan off
    celsius.value = 25  // prints 25 °C, 77 °F, fan off

    #expect(paper.lines == ["20 °C, 68 °F, fan off", "25 °C, 77 °F, fan off"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `one change of a diamond runs each value at most once`() {
    let runs = Shared([String]())
    let celsius = PublishedProperty(20)
    let fahrenheit = PublishedValue.computed { read in
      runs.append("fahrenheit")
      return read(celsius) * 9 / 5 + 32
    }
    let isHot = PublishedValue.computed { read in
      runs.append("isHot")
      return read(celsius) > 30
    }
    let fan = PublishedValue.computed { read in
      runs.append("fan")
      return read(isHot) ? "on" : "off"
    }
    let label = PublishedValue.computed { read in
      runs.append("label")
      return "\(read(celsius)) \(read(fahrenheit)) \(read(fan))"
    }
    let recorder = Recorder(label)

    runs.value = []
    celsius.value = 25
    #expect(runs.value.sorted() == ["fahrenheit", "isHot", "label"])
    runs.value = []
    celsius.value = 35
    #expect(runs.value.sorted() == ["fahrenheit", "fan", "isHot", "label"])
    #expect(recorder.updates == ["20 68 off", "25 77 off", "35 95 on"])
  }

  @Test func `together emits once for several writes`() {
    let print = print
    let width = PublishedProperty(2)
    let height = PublishedProperty(3)
    let area = PublishedValue.computed { read in read(width) * read(height) }
    let subscription = area.subscribe { print("area \($0)") }  // prints area 6

    together { set in
      set(width, to: 4)
      set(height, to: 5)
    }  // prints area 20

    #expect(paper.lines == ["area 6", "area 20"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `a computed value emits for a value that a callback replaces`() {
    let level = PublishedProperty(0)
    let limiter = level.publisher.subscribe { if $0 > 10 { level.value = 10 } }
    let double = PublishedValue.computed { read in read(level) * 2 }
    let pair = combineLatest(level.publisher, double) { [$0, $1] }
    let doubles = Recorder(double)
    let pairs = Recorder(pair)

    level.value = 50

    #expect(doubles.updates == [0, 100, 20])
    #expect(pairs.updates == [[0, 0], [50, 100], [10, 20]])
    withExtendedLifetime(limiter) {}
  }

  @Test func `an operator outside the closure keeps its state between runs`() {
    let clock = ManualClock()
    let text = PublishedProperty("")
    let language = PublishedProperty("en")

    let query = text.publisher.debounce(for: .milliseconds(300), clock: clock)
    let search = PublishedValue.computed { read in "\(read(language)):\(read(query))" }

    let restarted = PublishedValue.computed { read in
      let query = text.publisher.debounce(for: .milliseconds(300), clock: clock)
      return "\(read(language)):\(read(query))"
    }
    let recorders = [Recorder(search), Recorder(restarted)]
    text.value = "swift"
    language.value = "de"
    #expect(recorders.map(\.updates.last) == ["de:", "de:swift"])
    clock.advance(by: .milliseconds(300))
    #expect(recorders.map(\.updates.last) == ["de:swift", "de:swift"])
  }

  @Test func `a mutation after a run copies an array once`() {
    // An optimized program copies a literal before the first mutation.
    let numbers = PublishedProperty(Array(1...3))
    let sum = PublishedValue.computed { read in read(numbers).reduce(0, +) }
    func address() -> UInt {
      unsafe numbers.value.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }

    var addresses = [address()]
    for number in 4...6 {
      numbers.modify { $0[0] = number }
      addresses.append(address())
      if number == 4 { _ = sum.current() }
    }
    #expect(addresses[1] == addresses[0])
    #expect(addresses[2] != addresses[1])
    #expect(addresses[3] == addresses[2])
  }

  @Test func `a closure that writes a value that it reads runs until the value stays`() {
    let level = PublishedProperty(0)
    let limited = PublishedValue.computed { read in
      let value = read(level)
      if value < 5 { level.value += 1 }
      return value
    }
    let recorder = Recorder(limited)
    #expect(level.value == 5)
    #expect(recorder.updates.last == 5)
  }
}
