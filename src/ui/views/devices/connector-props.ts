/** Properties of the parts of a connector's page. */
import type { ReplyOf } from '../../api/call';

export type Connector = ReplyOf<'evse/{id}'>['connectors'][number];

export interface ConnectorProps {
  readonly id: string;
  readonly connector: Connector;
  /** true if a central system decides about tokens */
  readonly central: boolean;
}
