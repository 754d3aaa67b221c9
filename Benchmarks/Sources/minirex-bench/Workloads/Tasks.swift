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
    bench("drain-finished", "minirex") {
      let task = PublishedTask<Int, Never> { 1 }
      let token = task.subscribe { _ in }
      blocking { _ = await task.result }
      return { k in
        blocking { for _ in 0..<k { await token.invalidateAndWait() } }
      }
    }
    bench("drain-finished", "Task") {
      let task = Task { 1 }
      return { k in
        blocking { for _ in 0..<k { _ = await task.value } }
      }
    }
    bench("delivered", "minirex") {
      let source = opaque(BroadcastSource<Int>())
      let acc = Acc()
      let token = source.publisher.subscribe { acc.add($0) }
      return { k in
        blocking { for _ in 0..<k { await source.delivered() } }
        withExtendedLifetime(token) {}
      }
    }
    bench("resource-value", "minirex") {
      let resource = opaque(Resource<[Int], any Error>(staleAfter: .seconds(3_600)) { [] })
      resource.set([1])
      let acc = Acc()
      return { k in
        blocking {
          for _ in 0..<k { acc.add((try? await resource.value().count) ?? 0) }
        }
      }
    }
    bench("subscribe-finished", "minirex") {
      let task = PublishedTask<Int, Never> { 1 }
      let kept = task.subscribe { _ in }
      blocking { _ = await task.result }
      let acc = Acc()
      return { k in
        for i in 0..<k {
          let j = opaque(i)
          task.subscribe { if case .success(let v) = $0 { acc.add(v &+ j) } }.invalidate()
        }
        withExtendedLifetime(kept) {}
      }
    }
  }
}
