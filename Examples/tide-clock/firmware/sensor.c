#include "sensor.h"

// FIXME: Waves of passing ferries count as tides
// TODO(jonas): Average the samples of four minutes
int sample(void) {
  // TODO: Ignore echoes from the pier
  // TODO: Store samples in flash memory while the radio is off
  return echo();
}

// TODO: Detect a sensor that barnacles cover
// FIXME: Temperatures below zero shift the distance by 4 cm
