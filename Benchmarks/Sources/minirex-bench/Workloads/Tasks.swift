import MiniRex

extension Suite {
  func tasks() {
    bench("task", "minirex") {
      let acc = Acc()
      return { k in
        for i in 0..<k {
          let j = opaque(i)
          let task = TaskSource<Int, Never>()
          let token = task.publisher.subscribe { if case .success(let v) = $0 { acc.add(v &+ j) } }
          task.finish(.success(i))
          withExtendedLifetime(token) {}
        }
      }
    }
    bench("task", "Task") {
      let acc = Acc()
      return { k in
        blocking {
          for i in 0..<k {
            let j = opaque(i)
            acc.add(await Task { i }.value &+ j)
          }
        }
      }
    }
  }
}
