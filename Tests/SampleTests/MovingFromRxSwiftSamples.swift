import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The samples of MovingFromRxSwift.md.
@Suite(.light) struct MovingFromRxSwiftSamples {
  let paper = Paper()

  func print(_ line: Any) { paper.print("\(line)") }

  enum LoginError: Error {
    case wrongPassword
  }

  final class LoginModel: Sendable {
    let name = PublishedProperty("")
    let password = PublishedProperty("")
    let taps = BroadcastSource<Void>()
    let canLogIn: PublishedValue<Bool>
    let message: PublishedValue<String>

    init(logIn: @escaping @Sendable (String, String) -> PublishedTask<String, LoginError>) {
      let form = combineLatest(name.publisher, password.publisher)
      canLogIn = form.map { name, password in !name.isEmpty && password.count >= 8 }
      message = taps.publisher
        .withLatest(from: form)
        .flatMapLatest { _, form in logIn(form.0, form.1) }
        .map { result in
          switch result {
          case .success(let user): "Hello \(user)"
          case .failure(let error): "Failed: \(error)"
          }
        }
        .publishedValue(initial: "")
    }
  }

  @Test func `a failed login does not finish the message`() {
    let model = LoginModel { name, password in
      password == "password" ? .success(name) : .failure(.wrongPassword)
    }
    let canLogIn = Recorder(model.canLogIn)
    let messages = Recorder(model.message)

    model.name.value = "ada"
    model.password.value = "12345678"
    model.taps.broadcast(())
    model.password.value = "password"
    model.taps.broadcast(())

    #expect(canLogIn.updates == [false, true])
    #expect(messages.updates == ["", "Failed: wrongPassword", "Hello ada"])
  }

  @Test func `releasing a subscription cancels it`() {
    let numbers = BroadcastSource<Int>()
    let bag = SubscriptionBag()
    numbers.publisher.subscribe { print($0) }.store(in: bag)
    numbers.broadcast(1)  // prints 1
    bag.invalidate()
    numbers.broadcast(2)  // prints nothing

    _ = numbers.publisher.subscribe { print($0) }
    numbers.broadcast(3)  // prints nothing

    #expect(paper.lines == ["1"])
  }

  @Test func `a task runs once for all subscribers`() async {
    let user = PublishedTask {
      print("requesting")
      return "ada"
    }
    let first = await user.result
    let second = await user.result  // does not request again

    #expect(first?.isAda == true)
    #expect(second?.isAda == true)
    #expect(paper.lines == ["requesting"])
  }

  @Test func `combineLatest is glitch-free`() {
    let celsius = PublishedProperty(20)
    let fahrenheit = celsius.publisher.map { $0 * 9 / 5 + 32 }
    let both = combineLatest(celsius.publisher, fahrenheit)
    let subscription = both.subscribe { print("\($0) °C, \($1) °F") }
    celsius.value = 100

    withExtendedLifetime(subscription) {}
    #expect(paper.lines == ["20 °C, 68 °F", "100 °C, 212 °F"])
  }

  @Test func `a computed value replaces a shared combination`() {
    let name = PublishedProperty("")
    let password = PublishedProperty("")
    let canLogIn = PublishedValue.computed { read in
      !read(name).isEmpty && read(password).count >= 8
    }
    let subscription = canLogIn.subscribe { print("log in: \($0)") }  // prints log in: false
    name.value = "ada"  // prints nothing
    password.value = "password"  // prints log in: true

    withExtendedLifetime(subscription) {}
    #expect(paper.lines == ["log in: false", "log in: true"])
  }

  @Test func `a resource keeps the answer of a request`() async {
    let clock = ManualClock()
    @Sendable func fetchUser() async throws -> String { "ada" }

    let user = Resource(staleAfter: .seconds(60), clock: clock) { try await fetchUser() }
    let name = user.publisher.map { $0.value ?? "loading" }

    let names = Recorder(name)
    #expect(await names.next(2) == ["loading", "ada"])
  }
}

extension Result where Success == String {
  fileprivate var isAda: Bool {
    if case .success("ada") = self { true } else { false }
  }
}
