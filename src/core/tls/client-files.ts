/** The certificate files of a client: read at start, and again when they change. */
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { clientMaterial } from './client-context.ts';
import type { ClientIdentity, ClientNames } from './client-context.ts';
import type { ClientPolicy } from './client-policy.ts';
import { readPemFiles } from './material.ts';
import { TlsWatch } from './watch.ts';
import type { TlsWatchBasics } from './watch.ts';

export interface ClientTlsFilesOptions extends TlsWatchBasics {
  /** paths of PEM files */
  readonly files: ClientIdentity<string>;
  /** the settings that name them */
  readonly names: ClientNames;
  readonly policy: ClientPolicy;
  /** called when `context` is another one: connections that are open still have the one before */
  readonly onChange?: () => void;
}

/** A context that is replaced when its files change. */
export class ClientTlsFiles extends TlsWatch {
  #context: SecureContext;

  /** @throws SimError CONFIG_INVALID with the errors in the files */
  constructor({ files, names, policy, onChange, ...basics }: ClientTlsFilesOptions) {
    const given = (['cert', 'key', 'rootCert'] as const).flatMap((name) => {
      const path = files[name];
      return path === undefined ? [] : [[name, { name: names[name], path }] as const];
    });
    super({
      ...basics,
      names,
      peers: 'servers',
      paths: given.map(([, { path }]) => path),
      keyPath: files.key,
      read(readText) {
        const { texts, issues } = readPemFiles(given, readText);
        return issues.length > 0 ? { issues } : clientMaterial({ rootCert: '', ...texts }, policy, names);
      },
      replaced: (material) => {
        this.#context = createSecureContext(material.context);
        onChange?.();
      },
    });
    this.#context = createSecureContext(this.material.context);
  }

  /** For connections from now on. */
  get context(): SecureContext {
    return this.#context;
  }
}
