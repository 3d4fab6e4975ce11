x.o: /tmp/x.hip
