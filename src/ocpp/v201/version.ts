/** The versions that share this folder. */
import type { OcppSubprotocol } from '../../contract/ocpp.ts';

export type Version2 = Exclude<OcppSubprotocol, 'ocpp1.6'>;
