// TODO: Send ten samples in one packet
// TODO(mira): Encrypt the packets
// FIXME: The second antenna is never used
