/** The fleet behind this page, where the daemon is the gateway of one. */
import { get } from '../api/call';
import { useShared } from './live';
import { useOverview } from './site';
import type { Overview } from './site';

/** True: the daemon is the gateway of a fleet. */
export const useIsGateway = (): boolean => useShared(get('server-info'), 'once').data?.role === 'gateway';

type Missing = NonNullable<Overview['missing']>[number];

/** Shards that the overview is without. */
export const useMissing = (): readonly Missing[] => useOverview()?.missing ?? [];

/** `devices 1000 to 1999` */
export const rangeText = (first: number, count: number): string =>
  count === 1 ? `device ${first}` : `devices ${first} to ${first + Math.max(0, count - 1)}`;
