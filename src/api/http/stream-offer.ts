import { IncomingMessage } from 'node:http';

/**
 * A request whose offer of another protocol counts only when that is WebSocket. A server may pass over an offer
 * (RFC 9110 7.8), and clients that offer HTTP/2 with every request go on in HTTP/1.1; but Node 20 takes the connection
 * of each from HTTP as soon as anybody listens for upgrades. Its parser writes `upgrade`, its server reads it.
 */
export class StreamOffer extends IncomingMessage {
  /** no private field: the constructor of the base class writes already */
  declare offersUpgrade: boolean;

  get upgrade(): boolean {
    return this.offersUpgrade && (this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() === 'websocket');
  }

  set upgrade(offered: boolean | null) {
    this.offersUpgrade = offered === true;
  }
}
