import MiniRex

let temperature = PublishedProperty(19.6)

let subscription = temperature.publisher
  .map { Int($0.rounded()) }
  .subscribe { print("\($0) °C") }  // 20 °C, synchronously

temperature.value = 20.3  // rounds to 20, a duplicate
temperature.value = 21.5  // 22 °C
subscription.invalidate()
temperature.value = 30  // canceled, prints nothing
