/**
 * Interim answers (1xx), which a client must parse before the final one although it has not asked for them (RFC 9110
 * 15.2). undici ends the connection at an unrequested 100 Continue, so these answers are removed before undici reads.
 */
import type { Socket } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');
/** Longer than the head of any interim answer; a head that has not ended by then is left to the parser to refuse. */
const maxHeadBytes = 8192;

/** 1xx, but for 101, which changes the protocol. */
const interimHead = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/;
/** True if the first line ends without CR: the parser refuses such a head. */
const isBare = (octets: Buffer): boolean => {
  const end = octets.indexOf(0x0a);
  return end > 0 && octets[end - 1] !== 0x0d;
};
/** Octets too short to say if an interim head begins. */
const undecided = /^(?:H|HT|HTT|HTTP|HTTP\/|HTTP\/1|HTTP\/1\.|HTTP\/1\.[01]|HTTP\/1\.[01] |HTTP\/1\.[01] 1\d{0,2})$/;

/** Makes the reader of a socket see final answers only. @returns the socket */
export function withoutInterim<S extends Socket>(socket: S): S {
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)];
  /** true from a request to the head of its final answer: a body may contain anything */
  let awaitsHead = true;
  /** octets of a head that has not ended */
  let held: Buffer | null = null;
  socket.write = ((...args: Parameters<typeof write>) => {
    awaitsHead = true;
    return write(...args);
  }) as typeof write;
  socket.read = (size?: number): Buffer | null => {
    const piece = read(size) as Buffer | null;
    if (!awaitsHead || piece === null) return piece;
    let octets: Buffer = held === null ? piece : Buffer.concat([held, piece]);
    held = null;
    while (octets.length > 0) {
      const start = octets.toString('latin1', 0, 16);
      const isUndecided = octets.length < 16 && undecided.test(start);
      const isInterim = interimHead.test(start) && !isBare(octets);
      const end = isInterim ? octets.indexOf(headEnd) : -1;
      if (end >= 0) octets = octets.subarray(end + headEnd.length);
      else if (isUndecided || (isInterim && octets.length < maxHeadBytes)) {
        held = octets;
        return null;
      } else {
        awaitsHead = false;
        return octets;
      }
    }
    return null;
  };
  return socket;
}
