// `combineLatest` of two to eight inputs, written by `Scripts/write-arities`. Swift does not specialize
// a loop over a parameter pack, which makes a change several times as expensive.

/// Combines the current values of two inputs, as the overload for any number does.
@inlinable
public func combineLatest<A: Sendable, B: Sendable>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>
) -> PublishedValue<(A, B)> {
  combination(a, b, skipping: nil) { ($0, $1) }
}

/// Transforms the current values of two inputs, as the overload for any number does.
@inlinable
public func combineLatest<A: Sendable, B: Sendable, Result: Sendable>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, transform: @escaping @Sendable (A, B) -> Result
) -> PublishedValue<Result> {
  combination(a, b, skipping: ChangeTest(), transform)
}

@inlinable
func combination<A: Sendable, B: Sendable, Result: Sendable>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, skipping changeTest: ChangeTest<Result>?,
  _ transform: @escaping @Sendable (A, B) -> Result
) -> PublishedValue<Result> {
  Publisher(
    lineage: .ofOperation("combineLatest", on: a.lineages + b.lineages),
    value: .derived { session in
      guard let a = a.read(in: session), let b = b.read(in: session) else { return nil }
      return transform(a, b)
    }
  ) { receive in
    let cells = (CombinationCell<A>(), CombinationCell<B>())
    let output = CombinationOutput(changeTest, receive)
    let emit: @Sendable () -> Void = {
      guard let a = unsafe cells.0.value, let b = unsafe cells.1.value else { return }
      output.send(transform(a, b))
    }
    return Combination().subscribe(emit) {
      $0.add(a, cells.0)
      $0.add(b, cells.1)
    }
  }
}

/// Combines the current values of three inputs, as the overload for any number does.
@inlinable
public func combineLatest<A: Sendable, B: Sendable, C: Sendable>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>
) -> PublishedValue<(A, B, C)> {
  combination(a, b, c, skipping: nil) { ($0, $1, $2) }
}

/// Transforms the current values of three inputs, as the overload for any number does.
@inlinable
public func combineLatest<A: Sendable, B: Sendable, C: Sendable, Result: Sendable>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>,
  transform: @escaping @Sendable (A, B, C) -> Result
) -> PublishedValue<Result> {
  combination(a, b, c, skipping: ChangeTest(), transform)
}

@inlinable
func combination<A: Sendable, B: Sendable, C: Sendable, Result: Sendable>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>,
  skipping changeTest: ChangeTest<Result>?,
  _ transform: @escaping @Sendable (A, B, C) -> Result
) -> PublishedValue<Result> {
  Publisher(
    lineage: .ofOperation("combineLatest", on: a.lineages + b.lineages + c.lineages),
    value: .derived { session in
      guard let a = a.read(in: session), let b = b.read(in: session), let c = c.read(in: session)
      else { return nil }
      return transform(a, b, c)
    }
  ) { receive in
    let cells = (CombinationCell<A>(), CombinationCell<B>(), CombinationCell<C>())
    let output = CombinationOutput(changeTest, receive)
    let emit: @Sendable () -> Void = {
      guard let a = unsafe cells.0.value, let b = unsafe cells.1.value, let c = unsafe cells.2.value
      else { return }
      output.send(transform(a, b, c))
    }
    return Combination().subscribe(emit) {
      $0.add(a, cells.0)
      $0.add(b, cells.1)
      $0.add(c, cells.2)
    }
  }
}

/// Combines the current values of four inputs, as the overload for any number does.
@inlinable
public func combineLatest<A: Sendable, B: Sendable, C: Sendable, D: Sendable>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>
) -> PublishedValue<(A, B, C, D)> {
  combination(a, b, c, d, skipping: nil) { ($0, $1, $2, $3) }
}

/// Transforms the current values of four inputs, as the overload for any number does.
@inlinable
public func combineLatest<A: Sendable, B: Sendable, C: Sendable, D: Sendable, Result: Sendable>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  transform: @escaping @Sendable (A, B, C, D) -> Result
) -> PublishedValue<Result> {
  combination(a, b, c, d, skipping: ChangeTest(), transform)
}

@inlinable
func combination<A: Sendable, B: Sendable, C: Sendable, D: Sendable, Result: Sendable>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  skipping changeTest: ChangeTest<Result>?,
  _ transform: @escaping @Sendable (A, B, C, D) -> Result
) -> PublishedValue<Result> {
  Publisher(
    lineage: .ofOperation("combineLatest", on: a.lineages + b.lineages + c.lineages + d.lineages),
    value: .derived { session in
      guard let a = a.read(in: session), let b = b.read(in: session), let c = c.read(in: session),
        let d = d.read(in: session)
      else { return nil }
      return transform(a, b, c, d)
    }
  ) { receive in
    let cells = (
      CombinationCell<A>(), CombinationCell<B>(), CombinationCell<C>(), CombinationCell<D>()
    )
    let output = CombinationOutput(changeTest, receive)
    let emit: @Sendable () -> Void = {
      guard let a = unsafe cells.0.value, let b = unsafe cells.1.value,
        let c = unsafe cells.2.value, let d = unsafe cells.3.value
      else { return }
      output.send(transform(a, b, c, d))
    }
    return Combination().subscribe(emit) {
      $0.add(a, cells.0)
      $0.add(b, cells.1)
      $0.add(c, cells.2)
      $0.add(d, cells.3)
    }
  }
}

/// Combines the current values of five inputs, as the overload for any number does.
@inlinable
public func combineLatest<A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  _ e: PublishedValue<E>
) -> PublishedValue<(A, B, C, D, E)> {
  combination(a, b, c, d, e, skipping: nil) { ($0, $1, $2, $3, $4) }
}

/// Transforms the current values of five inputs, as the overload for any number does.
@inlinable
public func combineLatest<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, Result: Sendable
>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  _ e: PublishedValue<E>, transform: @escaping @Sendable (A, B, C, D, E) -> Result
) -> PublishedValue<Result> {
  combination(a, b, c, d, e, skipping: ChangeTest(), transform)
}

@inlinable
func combination<A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, Result: Sendable>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  _ e: PublishedValue<E>, skipping changeTest: ChangeTest<Result>?,
  _ transform: @escaping @Sendable (A, B, C, D, E) -> Result
) -> PublishedValue<Result> {
  Publisher(
    lineage: .ofOperation(
      "combineLatest", on: a.lineages + b.lineages + c.lineages + d.lineages + e.lineages),
    value: .derived { session in
      guard let a = a.read(in: session), let b = b.read(in: session), let c = c.read(in: session),
        let d = d.read(in: session), let e = e.read(in: session)
      else { return nil }
      return transform(a, b, c, d, e)
    }
  ) { receive in
    let cells = (
      CombinationCell<A>(), CombinationCell<B>(), CombinationCell<C>(), CombinationCell<D>(),
      CombinationCell<E>()
    )
    let output = CombinationOutput(changeTest, receive)
    let emit: @Sendable () -> Void = {
      guard let a = unsafe cells.0.value, let b = unsafe cells.1.value,
        let c = unsafe cells.2.value, let d = unsafe cells.3.value, let e = unsafe cells.4.value
      else { return }
      output.send(transform(a, b, c, d, e))
    }
    return Combination().subscribe(emit) {
      $0.add(a, cells.0)
      $0.add(b, cells.1)
      $0.add(c, cells.2)
      $0.add(d, cells.3)
      $0.add(e, cells.4)
    }
  }
}

/// Combines the current values of six inputs, as the overload for any number does.
@inlinable
public func combineLatest<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable
>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  _ e: PublishedValue<E>, _ f: PublishedValue<F>
) -> PublishedValue<(A, B, C, D, E, F)> {
  combination(a, b, c, d, e, f, skipping: nil) { ($0, $1, $2, $3, $4, $5) }
}

/// Transforms the current values of six inputs, as the overload for any number does.
@inlinable
public func combineLatest<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable, Result: Sendable
>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  _ e: PublishedValue<E>, _ f: PublishedValue<F>,
  transform: @escaping @Sendable (A, B, C, D, E, F) -> Result
) -> PublishedValue<Result> {
  combination(a, b, c, d, e, f, skipping: ChangeTest(), transform)
}

@inlinable
func combination<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable, Result: Sendable
>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  _ e: PublishedValue<E>, _ f: PublishedValue<F>, skipping changeTest: ChangeTest<Result>?,
  _ transform: @escaping @Sendable (A, B, C, D, E, F) -> Result
) -> PublishedValue<Result> {
  Publisher(
    lineage: .ofOperation(
      "combineLatest",
      on: a.lineages + b.lineages + c.lineages + d.lineages + e.lineages + f.lineages),
    value: .derived { session in
      guard let a = a.read(in: session), let b = b.read(in: session), let c = c.read(in: session),
        let d = d.read(in: session), let e = e.read(in: session), let f = f.read(in: session)
      else { return nil }
      return transform(a, b, c, d, e, f)
    }
  ) { receive in
    let cells = (
      CombinationCell<A>(), CombinationCell<B>(), CombinationCell<C>(), CombinationCell<D>(),
      CombinationCell<E>(), CombinationCell<F>()
    )
    let output = CombinationOutput(changeTest, receive)
    let emit: @Sendable () -> Void = {
      guard let a = unsafe cells.0.value, let b = unsafe cells.1.value,
        let c = unsafe cells.2.value, let d = unsafe cells.3.value, let e = unsafe cells.4.value,
        let f = unsafe cells.5.value
      else { return }
      output.send(transform(a, b, c, d, e, f))
    }
    return Combination().subscribe(emit) {
      $0.add(a, cells.0)
      $0.add(b, cells.1)
      $0.add(c, cells.2)
      $0.add(d, cells.3)
      $0.add(e, cells.4)
      $0.add(f, cells.5)
    }
  }
}

/// Combines the current values of seven inputs, as the overload for any number does.
@inlinable
public func combineLatest<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable, G: Sendable
>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  _ e: PublishedValue<E>, _ f: PublishedValue<F>, _ g: PublishedValue<G>
) -> PublishedValue<(A, B, C, D, E, F, G)> {
  combination(a, b, c, d, e, f, g, skipping: nil) { ($0, $1, $2, $3, $4, $5, $6) }
}

/// Transforms the current values of seven inputs, as the overload for any number does.
@inlinable
public func combineLatest<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable, G: Sendable,
  Result: Sendable
>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  _ e: PublishedValue<E>, _ f: PublishedValue<F>, _ g: PublishedValue<G>,
  transform: @escaping @Sendable (A, B, C, D, E, F, G) -> Result
) -> PublishedValue<Result> {
  combination(a, b, c, d, e, f, g, skipping: ChangeTest(), transform)
}

@inlinable
func combination<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable, G: Sendable,
  Result: Sendable
>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  _ e: PublishedValue<E>, _ f: PublishedValue<F>, _ g: PublishedValue<G>,
  skipping changeTest: ChangeTest<Result>?,
  _ transform: @escaping @Sendable (A, B, C, D, E, F, G) -> Result
) -> PublishedValue<Result> {
  Publisher(
    lineage: .ofOperation(
      "combineLatest",
      on: a.lineages + b.lineages + c.lineages + d.lineages + e.lineages + f.lineages + g.lineages),
    value: .derived { session in
      guard let a = a.read(in: session), let b = b.read(in: session), let c = c.read(in: session),
        let d = d.read(in: session), let e = e.read(in: session), let f = f.read(in: session),
        let g = g.read(in: session)
      else { return nil }
      return transform(a, b, c, d, e, f, g)
    }
  ) { receive in
    let cells = (
      CombinationCell<A>(), CombinationCell<B>(), CombinationCell<C>(), CombinationCell<D>(),
      CombinationCell<E>(), CombinationCell<F>(), CombinationCell<G>()
    )
    let output = CombinationOutput(changeTest, receive)
    let emit: @Sendable () -> Void = {
      guard let a = unsafe cells.0.value, let b = unsafe cells.1.value,
        let c = unsafe cells.2.value, let d = unsafe cells.3.value, let e = unsafe cells.4.value,
        let f = unsafe cells.5.value, let g = unsafe cells.6.value
      else { return }
      output.send(transform(a, b, c, d, e, f, g))
    }
    return Combination().subscribe(emit) {
      $0.add(a, cells.0)
      $0.add(b, cells.1)
      $0.add(c, cells.2)
      $0.add(d, cells.3)
      $0.add(e, cells.4)
      $0.add(f, cells.5)
      $0.add(g, cells.6)
    }
  }
}

/// Combines the current values of eight inputs, as the overload for any number does.
@inlinable
public func combineLatest<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable, G: Sendable,
  H: Sendable
>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  _ e: PublishedValue<E>, _ f: PublishedValue<F>, _ g: PublishedValue<G>, _ h: PublishedValue<H>
) -> PublishedValue<(A, B, C, D, E, F, G, H)> {
  combination(a, b, c, d, e, f, g, h, skipping: nil) { ($0, $1, $2, $3, $4, $5, $6, $7) }
}

/// Transforms the current values of eight inputs, as the overload for any number does.
@inlinable
public func combineLatest<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable, G: Sendable,
  H: Sendable, Result: Sendable
>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  _ e: PublishedValue<E>, _ f: PublishedValue<F>, _ g: PublishedValue<G>, _ h: PublishedValue<H>,
  transform: @escaping @Sendable (A, B, C, D, E, F, G, H) -> Result
) -> PublishedValue<Result> {
  combination(a, b, c, d, e, f, g, h, skipping: ChangeTest(), transform)
}

@inlinable
func combination<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable, G: Sendable,
  H: Sendable, Result: Sendable
>(
  _ a: PublishedValue<A>, _ b: PublishedValue<B>, _ c: PublishedValue<C>, _ d: PublishedValue<D>,
  _ e: PublishedValue<E>, _ f: PublishedValue<F>, _ g: PublishedValue<G>, _ h: PublishedValue<H>,
  skipping changeTest: ChangeTest<Result>?,
  _ transform: @escaping @Sendable (A, B, C, D, E, F, G, H) -> Result
) -> PublishedValue<Result> {
  Publisher(
    lineage: .ofOperation(
      "combineLatest",
      on: a.lineages + b.lineages + c.lineages + d.lineages + e.lineages + f.lineages + g.lineages
        + h.lineages),
    value: .derived { session in
      guard let a = a.read(in: session), let b = b.read(in: session), let c = c.read(in: session),
        let d = d.read(in: session), let e = e.read(in: session), let f = f.read(in: session),
        let g = g.read(in: session), let h = h.read(in: session)
      else { return nil }
      return transform(a, b, c, d, e, f, g, h)
    }
  ) { receive in
    let cells = (
      CombinationCell<A>(), CombinationCell<B>(), CombinationCell<C>(), CombinationCell<D>(),
      CombinationCell<E>(), CombinationCell<F>(), CombinationCell<G>(), CombinationCell<H>()
    )
    let output = CombinationOutput(changeTest, receive)
    let emit: @Sendable () -> Void = {
      guard let a = unsafe cells.0.value, let b = unsafe cells.1.value,
        let c = unsafe cells.2.value, let d = unsafe cells.3.value, let e = unsafe cells.4.value,
        let f = unsafe cells.5.value, let g = unsafe cells.6.value, let h = unsafe cells.7.value
      else { return }
      output.send(transform(a, b, c, d, e, f, g, h))
    }
    return Combination().subscribe(emit) {
      $0.add(a, cells.0)
      $0.add(b, cells.1)
      $0.add(c, cells.2)
      $0.add(d, cells.3)
      $0.add(e, cells.4)
      $0.add(f, cells.5)
      $0.add(g, cells.6)
      $0.add(h, cells.7)
    }
  }
}
