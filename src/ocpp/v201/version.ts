/** What 2.0.1 and 2.1 do not share. */
import type { OcppSubprotocol } from '../../contract/ocpp.ts';

export type Version2 = Exclude<OcppSubprotocol, 'ocpp1.6'>;
