/** The application control octet and the fragments that begin with it. IEEE 1815 4.2.2 */
import { Buffer } from 'node:buffer';
import { functionCodes } from './types.ts';
import type { AppControl } from './types.ts';

const bit = { fir: 0x80, fin: 0x40, con: 0x20, uns: 0x10 } as const;

export function readControl(octet: number): AppControl {
  return {
    fir: (octet & bit.fir) !== 0,
    fin: (octet & bit.fin) !== 0,
    con: (octet & bit.con) !== 0,
    uns: (octet & bit.uns) !== 0,
    seq: octet & 0x0f,
  };
}

export function controlOctet({ fir, fin, con, uns, seq }: AppControl): number {
  return (fir ? bit.fir : 0) | (fin ? bit.fin : 0) | (con ? bit.con : 0) | (uns ? bit.uns : 0) | (seq & 0x0f);
}

/** Octets of a response before its objects: control, function, two of indications. */
export const responseHeaderOctets = 4;

/** A response, or with `control.uns` an unsolicited one. */
export function responseFragment(control: AppControl, iin: number, objects: Buffer): Buffer {
  const fragment = Buffer.allocUnsafe(responseHeaderOctets + objects.length);
  fragment[0] = controlOctet(control);
  fragment[1] = control.uns ? functionCodes.unsolicitedResponse : functionCodes.response;
  fragment.writeUInt16LE(iin, 2);
  objects.copy(fragment, responseHeaderOctets);
  return fragment;
}
