/** The files behind a TLS gate: read at start, and again when they change. */
import { readTlsMaterial } from './material.ts';
import type { TlsPolicy, TlsTriple } from './material.ts';
import { TlsGate } from './gate.ts';
import type { TlsGateOptions } from './gate.ts';
import { TlsWatch } from './watch.ts';
import type { TlsWatchBasics } from './watch.ts';

/** TLS of a group of listeners. */
export interface TlsSettings extends TlsPolicy {
  /** paths of PEM files */
  readonly files: TlsTriple<string>;
}

export interface TlsFilesOptions<Identity> extends TlsWatchBasics {
  readonly settings: TlsSettings;
  /** the settings that name the files, for messages: clients can read the log and must not see paths */
  readonly names: TlsTriple<string>;
  /** as the gate has it */
  readonly identify: TlsGateOptions<Identity>['identify'];
}

/** A gate whose certificate, key and root certificates are replaced while it runs, for sessions from then on. */
export class TlsFiles<Identity> extends TlsWatch {
  readonly gate: TlsGate<Identity>;

  /** @throws SimError CONFIG_INVALID with the errors in the files */
  constructor(options: TlsFilesOptions<Identity>) {
    const {
      settings: { files: paths, ...policy },
      names,
      identify,
      ...basics
    } = options;
    const files = {
      cert: { name: names.cert, path: paths.cert },
      key: { name: names.key, path: paths.key },
      rootCert: { name: names.rootCert, path: paths.rootCert },
    };
    super({
      ...basics,
      names,
      peers: 'clients',
      paths: [paths.cert, paths.key, paths.rootCert],
      keyPath: paths.key,
      read: (readText) => readTlsMaterial(files, policy, readText),
      replaced: (material) => {
        this.gate.replace(material);
      },
    });
    this.gate = new TlsGate(this.material, { identify, rootCertName: names.rootCert });
  }
}
