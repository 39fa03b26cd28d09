#!/bin/sh
# Time-skipping Temporal server: test-server.sh <port>. TEST_SERVER_JARS is the folder of its jars.
# Quick start over peak speed, because the SDK waits five seconds for it: with classes.jsa the start
# takes a third of the time. exec, because the SDK stops only the process that it started.
archive="${TEST_SERVER_JARS:?}/classes.jsa"
[ -f "$archive" ] || archive=
# It ends with the process that started it, also when that is killed.
parent=$PPID
(while kill -0 "$parent" && kill -0 $$; do sleep 2; done; kill $$) >/dev/null 2>&1 &

exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m -Xlog:disable \
  ${archive:+"-XX:SharedArchiveFile=$archive"} \
  -cp "$TEST_SERVER_JARS/*" io.temporal.testserver.TestServer "$@"
