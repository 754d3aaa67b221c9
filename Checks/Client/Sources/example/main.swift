import MiniRex

let temperature = PublishedProperty(19.6)

let subscription = temperature.publisher
  .map { Int($0.rounded()) }
  .subscribe { print("\($0) °C") }  // 20 °C, at once

temperature.value = 20.3  // still 20: nothing new to tell
temperature.value = 21.5  // 22 °C
subscription.invalidate()
temperature.value = 30  // nobody listens
