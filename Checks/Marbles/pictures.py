"""The pictures and their stories."""

# The name of each picture, and the sentence of its story, or the name of its test in a file of samples.
pictures = {
    "map": "map transforms every update of a broadcaster and keeps duplicates",
    "map-value": "map of a value skips equal results",
    "compactMap": "compactMap skips updates that it maps to nil",
    "scan": "scan accumulates from its initial result, and does not emit it",
    "pairs": "pairs emits each update with its predecessor",
    "chunked": "chunked by two emits with each second update, and the rest at the end",
    "filter": "filter emits the updates that satisfy its predicate, and finishes with its source",
    "removeDuplicates": "removeDuplicates skips an update that equals its predecessor",
    "removeDuplicates-by":
        "removeDuplicates by compares with the last emitted update, not with the previous update",
    "prefix": "prefix finishes in the step of its last update",
    "prefix-while": "prefix while finishes at the first update that fails, without emitting it",
    "prefix-until": "prefix until finishes at the first signal, and drops an update of the same step",
    "dropFirst": "dropFirst drops the given number of updates",
    "drop-while": "drop while drops updates that pass, and emits every update from the first failure on",
    "drop-until": "drop until drops the updates before the first signal",
    "first": "first emits the first update and finishes",
    "first-where": "first where waits for an update that passes",
    "merge": "merge combines several publishers into one order, and finishes with the last of them",
    "prepend": "prepend starts with its own updates for each subscriber",
    "append": "append continues with the second publisher when the first finishes",
    "combineLatest":
        "combineLatest emits the current values of all inputs, and finishes with the last of them",
    "combineLatest-diamond": "combineLatest of a diamond emits once, when both inputs have changed",
    "withLatest": "withLatest pairs with the current value, and ignores changes of that value",
    "switchToLatest": "switchToLatest cancels the previous inner subscription",
    "switchToLatest-value":
        "switchToLatest of values starts with the current value of the current publisher",
    "flatMapLatest": "flatMapLatest emits the updates of the publisher for the last update",
    "flatMapLatest-value": "flatMapLatest of a value preserves the kind and skips equal values",
    "flatMap": "flatMap runs a limited number of publishers, and starts the next when one finishes",
    "share": "share runs upstream operators once",
    "debounce": "debounce waits for a quiet interval",
    "throttle": "throttle emits the first update immediately, then the latest of each interval",
    "delay": "delay shifts each update and the end",
    "chunked-every":
        "chunked every starts an interval with its first update, and emits the rest at the end",
    "chunked-by-every":
        "chunked by and every emits a full chunk, or the chunk of a full interval",
    "broadcaster-every":
        "broadcaster every ticks at multiples of the interval for each subscriber",
    "sequence-every": "sequence every emits one element per interval",
    "publishedValue": "publishedValue without an initial value is nil first",
    "publishedValue-initial":
        "publishedValue starts with its initial value, skips duplicates, and finishes with its source",
    "broadcaster": "broadcaster removes the kind, and with it the duplicate check",
    "property": "a property that is set to an equal value emits nothing",
    "task": "a task emits its result to late subscribers",
    "map-task": "map of a task transforms a success and keeps a failure",
    "mapError": "mapError of a task transforms a failure",
    "flatMap-task": "flatMap continues with another task after a success",
    "recover": "recover continues with another task after a failure",
    "all": "all waits for every task",
    "timeout": "timeout fails exactly after its duration",
    "share-late": "StoriesSamples: share gives each subscriber the updates of its subscription",
    "throttle-debounce": "StoriesSamples: throttle emits during a movement, and debounce after it",
    "combineLatest-total": "StoriesSamples: combineLatest emits when either the price or the count changes",
}
