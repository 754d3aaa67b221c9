import MiniRexStore

/// The orders, and the charges that the bank has not answered yet.
struct Shop: Codable, Equatable, Sendable {
  var orders = Rows<Order>()
  var charges = Jobs<Charge>()
}

struct Order: Codable, Equatable, Identifiable, Sendable {
  var id: Int
  var customer: String
  var amount: Int
  var receipt: String?
}

struct Charge: Codable, Equatable, Identifiable, Sendable {
  var id: Int
  var customer: String
  var amount: Int
}

enum Action: Codable, Equatable, Sendable {
  case ordered(customer: String, amount: Int)
  case charged(Order.ID, receipt: String)
  case charges(JobsAction<Charge>)
}

let selling: Reducer<Shop, Action> = { shop, action in
  switch action {
  case .ordered(let customer, let amount):
    let id = shop.orders.count + 1
    shop.orders.append(Order(id: id, customer: customer, amount: amount))
    // The same commit, so that no order is without its charge.
    shop.charges.add(Charge(id: id, customer: customer, amount: amount))
  case .charged(let id, let receipt):
    shop.orders[id: id]?.receipt = receipt
    shop.charges.remove(id)
  case .charges(let action): shop.charges.reduce(action)
  }
  return .none
}
