/** A head-end over TLS with a registered client for each device of a fleet, whose certificates are files. */
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, issue } from '../../support/pki.ts';
import { HeadEnd, lfdiOf } from './head-end.ts';
import type { Rates } from './model.ts';

export interface FleetHeadEnd {
  readonly headEnd: HeadEnd;
  /** by device */
  readonly lfdis: readonly string[];
}

/** Writes `root.pem`, `device0.pem`, `device0.key`, ... into a folder. @param rates seconds between polls and posts */
export async function headEndOfFleet(folder: string, clients: number, rates: Partial<Rates>): Promise<FleetHeadEnd> {
  const root = await createAuthority('Fleet root');
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text, { mode: 0o600 });
  write('root.pem', root.cert);
  const identity = await issue(root, 'server', { purpose: 'server' });
  const headEnd = await HeadEnd.open({ tls: { identity, ca: root.cert }, nowMs: Date.now });
  Object.assign(headEnd.rates, rates);
  const lfdis: string[] = [];
  for (let index = 0; index < clients; index += 1) {
    const { cert, key } = await issue(root, `device ${index}`, { purpose: 'client' });
    write(`device${index}.pem`, cert);
    write(`device${index}.key`, key);
    const lfdi = lfdiOf(new X509Certificate(cert).raw);
    lfdis.push(lfdi);
    headEnd.register(lfdi);
  }
  return { headEnd, lfdis };
}
