/** A page updated by its thread's stream, from the SDK. */
export {
  LivePage,
  pageChangeOf as changeOf,
  type LivePageState as LiveState,
  type PageChange as Change,
} from '@outlast/sdk'
