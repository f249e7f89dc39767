import type { ReplyOf } from '../../api/call';

export type CsipStatus = ReplyOf<'csip/status'>;
export type CsipControl = ReplyOf<'csip/controls'>['controls'][number];

/** Properties of each part of the view. */
export interface PartProps {
  readonly device: number;
  readonly status: CsipStatus;
}
