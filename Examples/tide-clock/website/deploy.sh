#!/bin/sh
# TODO: Check the certificate before it expires
# TODO(jonas): Roll back if the first request fails
# FIXME: Old files are never deleted
rsync -a . tides:/srv/www
