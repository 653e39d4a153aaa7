import { beforeEach, describe, expect, it } from 'vitest'
import type { ArtifactData, KnowledgeSource } from '@outlast/sdk'
import { addSource, replaceSource, sourcesQuery } from '@/apps/knowledge/knowledge'
import { addFile, filesQuery } from '@/features/project-files/project-files'
import { queryClient, showNews } from '@/lib/queries'

const source = (state: KnowledgeSource['state']) => ({ id: 'src_1', state }) as KnowledgeSource
const file = (state: ArtifactData['state']) => ({ id: 'file_1', project_id: 'prj_1', state }) as ArtifactData
const { queryKey } = sourcesQuery('prj_1')
const sources = () => queryClient.getQueryData<KnowledgeSource[]>(queryKey)
const files = () => queryClient.getQueryData(filesQuery('prj_1').queryKey)?.pages.flatMap(({ items }) => items)

beforeEach(() => queryClient.clear())

describe('the answer to a request', () => {
  it('adds a source, and does not undo what the stream told of it meanwhile', () => {
    queryClient.setQueryData(queryKey, [])
    addSource('prj_1', source('waiting'))
    expect(sources()).toEqual([source('waiting')])
    showNews<KnowledgeSource[]>(queryKey, () => [source('failed')])
    addSource('prj_1', source('waiting'))
    expect(sources()).toEqual([source('failed')])
  })

  it('changes a source only as long as it is what was shown', () => {
    const before = source('ready')
    queryClient.setQueryData(queryKey, [before])
    replaceSource('prj_1', before, source('waiting'))
    expect(sources()).toEqual([source('waiting')])
    replaceSource('prj_1', before, source('fetching'))
    expect(sources()).toEqual([source('waiting')])
  })

  it('adds a file, and does not undo what the stream told of it meanwhile', () => {
    const list = (items: ArtifactData[]) => ({ pages: [{ items, next: null }], pageParams: [''] })
    queryClient.setQueryData(filesQuery('prj_1').queryKey, list([]) as never)
    addFile(file('reading'))
    expect(files()).toEqual([file('reading')])
    queryClient.setQueryData(filesQuery('prj_1').queryKey, list([file('ready')]) as never)
    addFile(file('reading'))
    expect(files()).toEqual([file('ready')])
  })
})

describe('news', () => {
  it('that come while a list is loaded are in it in the end', async () => {
    const key = ['list']
    const waiting: ((list: string[]) => void)[] = []
    const queryFn = () => new Promise<string[]>((resolve) => waiting.push(resolve))
    const load = () => queryClient.fetchQuery({ queryKey: key, queryFn })
    const first = load()
    showNews<string[]>(key, (all) => [...all, 'news'])
    showNews<string[]>(key, (all) => [...all, 'more news'])
    waiting[0]?.(['old'])
    expect(await first).toEqual(['old'])
    const second = load()
    waiting[1]?.(['old', 'news', 'more news'])
    expect(await second).toEqual(['old', 'news', 'more news'])
    expect(await load()).toEqual(['old', 'news', 'more news'])
    expect(waiting).toHaveLength(2)
  })
})
