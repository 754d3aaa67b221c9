"""Predicts the tide of the next three days."""

# TODO: Fetch the harmonic constants of the harbor once a year
# TODO: Add the surge from the air pressure
# FIXME: The forecast is an hour late in summer


def predict(hours):
    # TODO(ada): Compare the forecast with the last thirty days
    # TODO: Cache the forecast until the next sample
    return [height(hour) for hour in range(hours)]
