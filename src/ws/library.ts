import { createRequire } from 'node:module';
import type { WebSocketServer } from 'ws';
import { checkDescriptorsToRequire } from '../core/errors.ts';
import { refuseHandshake } from './handshake.ts';

const require = createRequire(import.meta.url);

const maxIncomingBytes = 4096;
/** maximum of frames in one message of a client */
const maxFragments = 16;

/** The library of the handshake and the frames, loaded with the first client. @throws SimError SHORTAGE */
export function loadLibrary(): WebSocketServer {
  checkDescriptorsToRequire();
  const { WebSocketServer: Library } = require('ws') as { WebSocketServer: typeof WebSocketServer };
  const library = new Library({
    noServer: true,
    clientTracking: false,
    maxPayload: maxIncomingBytes,
    maxFragments,
    perMessageDeflate: false,
    // the library would answer every ping of a flood
    autoPong: false,
  });
  library.on('wsClientError', refuseHandshake);
  return library;
}
