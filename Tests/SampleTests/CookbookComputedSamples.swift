import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The samples of Cookbook.md that use computed values.
@Suite(.light) struct CookbookComputedSamples {
  final class SignUpForm: Sendable {
    let email = PublishedProperty("")
    let password = PublishedProperty("")
    let repetition = PublishedProperty("")
    let acceptsTerms = PublishedProperty(false)
    let errors: PublishedValue<[String]>
    let canSubmit: PublishedValue<Bool>

    init() {
      errors = .computed { [email, password, repetition] read in
        var errors: [String] = []
        if !read(email).contains("@") { errors.append("Enter an email address.") }
        if read(password).count < 8 {
          errors.append("Use at least 8 characters.")
        } else if read(repetition) != read(password) {
          errors.append("The passwords differ.")
        }
        return errors
      }
      canSubmit = .computed { [acceptsTerms, errors] read in
        read(acceptsTerms) && read(errors).isEmpty
      }
    }

    func clear() {
      together { set in
        set(email, to: "")
        set(password, to: "")
        set(repetition, to: "")
        set(acceptsTerms, to: false)
      }
    }
  }

  @Test func `a form validates the fields that matter`() {
    let form = SignUpForm()
    let errors = Recorder(form.errors)
    let canSubmit = Recorder(form.canSubmit)

    form.email.value = "ada@example.org"
    form.acceptsTerms.value = true
    #expect(form.repetition.subscriberCount == 0)
    form.password.value = "12345678"
    #expect(form.repetition.subscriberCount == 2)
    form.repetition.value = "1234"
    form.repetition.value = "12345678"
    form.clear()

    let short = "Use at least 8 characters."
    #expect(
      errors.updates == [
        ["Enter an email address.", short], [short], ["The passwords differ."], [],
        ["Enter an email address.", short],
      ])
    #expect(canSubmit.updates == [false, true, false])
  }

  final class Cart: Sendable {
    final class Line: Sendable {
      let price: Int
      let count: PublishedProperty<Int>

      init(price: Int, count: Int) {
        self.price = price
        self.count = PublishedProperty(count)
      }
    }

    let lines = PublishedProperty<[Line]>([])
    let coupon = PublishedProperty(0)
    let subtotal: PublishedValue<Int>
    let shipping: PublishedValue<Int>
    let total: PublishedValue<Int>

    init() {
      subtotal = .computed { [lines] read in
        var sum = 0
        for line in read(lines) { sum += line.price * read(line.count) }
        return sum
      }
      shipping = .computed { [subtotal] read in read(subtotal) < 5_000 ? 490 : 0 }
      total = .computed { [subtotal, shipping, coupon] read in
        read(subtotal) * (100 - read(coupon)) / 100 + read(shipping)
      }
    }
  }

  @Test func `a cart emits one total for each change`() {
    let cart = Cart()
    let total = Recorder(cart.total)
    let book = Cart.Line(price: 2_000, count: 1)
    let pen = Cart.Line(price: 300, count: 2)

    cart.lines.value = [book, pen]
    book.count.value = 3
    cart.coupon.value = 10
    cart.lines.value = [pen]
    book.count.value = 9

    #expect(total.updates == [490, 3_090, 6_600, 5_940, 1_030])
    #expect(cart.shipping.current() == 490)
    #expect(book.count.subscriberCount == 0)
  }

  func title(
    selection: PublishedValue<String>, sensors: [String: PublishedValue<Double>],
    isMetric: PublishedValue<Bool>
  ) -> PublishedValue<String> {
    .computed { read in
      let name = read(selection)
      guard let sensor = sensors[name] else { return "\(name): no sensor" }
      let celsius = read(sensor)
      return read(isMetric) ? "\(name): \(celsius) °C" : "\(name): \(celsius * 9 / 5 + 32) °F"
    }
  }

  @Test func `a dashboard follows the selected sensor only`() {
    let selection = PublishedProperty("kitchen")
    let isMetric = PublishedProperty(true)
    let kitchen = PublishedProperty(20.0)
    let garden = PublishedProperty(5.0)
    let titles = Recorder(
      title(
        selection: selection.publisher,
        sensors: ["kitchen": kitchen.publisher, "garden": garden.publisher.share()],
        isMetric: isMetric.publisher))

    garden.value = 10
    #expect([kitchen.subscriberCount, garden.subscriberCount] == [1, 0])
    selection.value = "garden"
    #expect([kitchen.subscriberCount, garden.subscriberCount] == [0, 1])
    kitchen.value = 21
    garden.value = 15
    isMetric.value = false
    selection.value = "attic"

    #expect(
      titles.updates == [
        "kitchen: 20.0 °C", "garden: 10.0 °C", "garden: 15.0 °C", "garden: 59.0 °F",
        "attic: no sensor",
      ])
    #expect([kitchen.subscriberCount, garden.subscriberCount] == [0, 0])
  }
}
