#include "clock.h"

// TODO: Read the battery voltage once an hour
// TODO: Sleep between two samples, the battery lasts only nine days
static int needle_angle(int centimeters) {
  // FIXME: The needle jumps at low tide
  return centimeters * 360 / range;
}

int main(void) {
  // TODO(jonas): Calibrate the needle with two known heights
  /* TODO: Show the moon phase on the small dial */
  for (;;) {
    // TODO: Restart the sensor after three failed samples
    show(needle_angle(sample()));
  }
}
