"""Rows about the conversation that was sent: every rule of a valid history, and the repair that its breach asks for.

They are read before any status, because they come under all of them, 500 included. No provider's name stands here.
"""

from headway.failure import FailureKind
from headway.recovery.failures.rows import Row, row

CALL = r"tool[_ -]?(?:call|use|invo)|function[_ -]?call|tooluse\b|server_tool_use|call_\w{6,}"
RESULT = r"""tool[_ -]?(?:result|response|output|message)|tool call result|toolresult|tool_use_id|tool_call_id
    |function[_ -]?(?:response|output|call output|result)|role[ :='\"`]*(?:of )?['\"`]?tool\b|tool id\("""
THINKING = r"\bthinking\b|redacted_thinking|reasoning(?:_content)?\b|thought[_ ]?signature|encrypted[_ ]content|思考"
CONTENT = r"content|\btext\b|messages?\b|\bparts?\b|block|array|prompt|消息|内容"
PICTURE = (
    r"\bimages?\b|image_url|input_image|inline_?data|(?:media|mime) type|\bpdf\b|video|audio|图片|multimodal|vision"
)
NOT_OUR_HISTORY = r"not in request\.tools|parser|tool choice|failed_generation|failed to call|generated|raw="


def _broken(rule: str, repair: str, *says: tuple[str, ...], code: str = "", unless: str = NOT_OUR_HISTORY) -> Row:
    return row(FailureKind.HISTORY_REFUSED, rule, repair=repair, says=says, code=code, unless=unless)


HISTORY: tuple[Row, ...] = (
    _broken(
        "state that the server should have kept (a thread, an earlier response) is gone: send it all again",
        "replay_full_history",
        (r"previous response|previous_response_id", r"not found|expired|invalid|no longer"),
        (r"\bthread\b", r"not found|no usable|mismatch|expired|already continued|in flight"),
        code=r"""previous_response_not_found|thread_\w+|conversation_not_found|container_(?:expired|not_found)
            |compaction_(?!unavailable|signature)\w+|tool_reference_unresolved""",
    ),
    _broken(
        "an item, file or cache entry that the history refers to by id is not there any more",
        "strip_item_ids",
        (r"\bitems? with id|\bitem '|\bitem_reference", r"not found|not persisted|does not exist"),
        (r"\bfile\b|cachedcontent|cached content", r"not found|expired|no longer|does not exist|not exist"),
        code=r"file_expired|item_not_found|cached_content_not_found",
        unless=r"\bmodel\b|api version",
    ),
    _broken(
        "sealed reasoning was made under another key, model or account",
        "drop_reasoning_items",
        (r"encrypted[_ ]content|encrypted reasoning", r"could not be|invalid|fail|cannot|unable|verif|decrypt"),
        code=r"invalid_encrypted_content|compaction_signature_invalid",
    ),
    _broken(
        "reasoning text must go back with every call, be it empty",
        "restore_reasoning_content_or_empty_string",
        (r"reasoning_content", r"passed back|missing|must be|required|回传|缺少"),
    ),
    _broken(
        "a call of the current turn lost its thought signature",
        "restore_signature_or_flatten_tool_turn",
        (r"thought[_ ]?signature", r"missing|required|without"),
    ),
    _broken(
        "a thought signature is of another route, model or key",
        "strip_signatures",
        (r"thought[_ ]?signature", r"invalid|corrupt|not valid|fail"),
    ),
    _broken(
        "thinking of the newest turn was edited, reordered or dropped in part",
        "restore_or_strip_thinking",
        (THINKING, r"cannot be modified|must remain"),
    ),
    _broken(
        "thinking was stored without its signature",
        "drop_unsigned_thinking",
        (THINKING, r"signature", r"required|missing"),
    ),
    _broken(
        "an item was sent without the item it belongs to",
        "drop_dangling_reasoning",
        (r"without its required|of type '\w+' was provided without",),
    ),
    _broken(
        "a thinking block is foreign, bound to another conversation, or missing where it must stand",
        "strip_thinking",
        (THINKING, r"signature|sign\b", r"invalid|corrupt|bound|verif|mismatch|not valid|fail"),
        (THINKING, r"passed back|is missing|must be (?:passed|included|provided)|must start with|but found|缺少|回传"),
        (r"redacted_thinking|thinking. block", r"invalid|expected"),
    ),
    _broken(
        "the arguments of a stored tool call are not the JSON object they should be",
        "drop_or_fix_bad_arguments",
        (r"arguments?\b", r"tool|function|call", r"pars|json|unterminated|invalid|decode|malformed|object|dict"),
        (r"extra data: line|unterminated string|expecting (?:value|property|',')|unexpected end of json",),
        (r"\binput\b", r"valid dictionary|should be an object|must be an object"),
        unless=NOT_OUR_HISTORY + r"|unknown name",
    ),
    _broken(
        "a text holds a character that cannot be written as it is: half of a pair, or a control character",
        "strip_invisible",
        (r"\bsurrogates?\b|invalid (?:escape|unicode|utf-?8)|control character",),
        unless=NOT_OUR_HISTORY + r"|\bheader",
    ),
    _broken(
        "the history holds tool calls, but the request offers no tools",
        "send_tools_or_flatten",
        (r"toolconfig|\btools?\b", r"must be (?:defined|provided|set)|required", r"tool ?use|tool ?result|tool_call"),
    ),
    _broken(
        "one call has several results",
        "dedupe_tool_results",
        (r"single result|multiple .{0,4}tool_?result",),
        (RESULT, r"multiple|several|more than one"),
    ),
    _broken(
        "an id is used twice",
        "make_ids_unique",
        (CALL, r"unique|duplicat|already"),
        (RESULT, r"duplicat|unique"),
        (r"\bitems?\b", r"duplicat"),
    ),
    _broken(
        "a server's own tool was left unfinished: send only results, and the same tools",
        "send_only_tool_results_and_same_tools",
        (r"found without a corresponding|but no .{0,40}tool was provided",),
    ),
    _broken(
        "calls and results of one turn do not match in number",
        "merge_tool_results_one_turn",
        (r"equal to the number", r"function|tool"),
    ),
    _broken(
        "a model turn with calls may not stand here",
        "insert_user_turn",
        (r"call turn comes",),
    ),
    _broken(
        "words may not stand beside tool results in one turn",
        "split_text_from_tool_results",
        (r"tool ?result", r"same turn|cannot be (?:mixed|combined)|only contain"),
    ),
    _broken(
        "tool results must be followed by the assistant before the user speaks again",
        "insert_assistant_after_tool",
        (r"role .?user.? after role .?tool",),
    ),
    _broken(
        "a tool call has no result directly behind it",
        "add_missing_tool_results",
        (
            CALL,
            r"must be followed|followed by|ids were found without|did not have|no tool output|insufficient|missing",
        ),
        (CALL, r"not the same number|each call|response for|did not find|begin with a matching"),
        (
            r"expected tool ?results?|did not find .{0,12}tool_?result",
            r"following ids|missing|at the beginning|messages",
        ),
        unless=NOT_OUR_HISTORY + r"|required parameter",
    ),
    _broken(
        "a result of a server's own tool has no call",
        "drop_orphan_server_tool_results",
        (r"server_tool_use", r"must have a corresponding|unexpected|before it"),
    ),
    _broken(
        "something stands between a call and its result",
        "reorder_tool_results",
        (RESULT, r"does not follow|not follow|out of order"),
    ),
    _broken(
        "a tool result has no call",
        "drop_orphan_tool_results",
        (
            RESULT,
            r"must (?:be a response|follow|come|have a corresponding)|preceed?ing|previous turn|comes immediately",
        ),
        (RESULT, r"unexpected|orphan|no (?:matching|corresponding)|without (?:a )?(?:matching|preceding|corresp)"),
        (
            RESULT,
            r"exceeds the number|not found|does not exist|unknown|not exist|invalid|mismatch|do(?:es)? not match",
        ),
        (r"no tool call found|unexpected tool call id",),
    ),
    _broken(
        "an id or a name is too long, or has letters that this endpoint does not take",
        "rewrite_ids",
        (r"should match pattern|does not match (?:the )?(?:pattern|regex)|begins with '",),
        (
            r"(?:tool|call|item|message|use)[\w ]{0,8}[_. ]ids?\b|function name",
            r"must be|too long|a-z|length of|invalid|must start",
        ),
        (r"\.(?:id|name|call_id)'", r"too long|pattern|invalid"),
        unless=r"\bmodel\b|project|organi[sz]ation|deployment|referer|not verified",
    ),
    _broken(
        "an image or file is too large, too many, or of a kind that is not taken here",
        "shrink_or_drop_image",
        (
            PICTURE,
            r"""exceed|too (?:large|many|big|small)|unsupported|not support|n't support|invalid|could not|cannot
                |unable|unknown|fail|not (?:allowed|valid|enabled|permitted|meet)|corrupt|不支持|过大|at most
                |must be|restrict""",
        ),
        code=r"(?:invalid|unsupported)_(?:image|file|media)\w*|image_\w+|failed_to_download_image|\w+_image_\w+",
        unless=r"no endpoints|generat|model (?:is )?not found|\brate\b",
    ),
    _broken(
        "words that the model should go on from end in a space",
        "rstrip_prefill",
        (r"trailing whitespace",),
    ),
    _broken(
        "a list of tools is empty",
        "param:drop empty tools",
        (r"'tools'|\btools\b", r"empty array|is empty|minimum length"),
        unless=r"tool_calls",
    ),
    _broken(
        "a message is empty",
        "drop_empty_message",
        (r"must include at least one parts|contents? is not specified|parts must not be empty",),
    ),
    _broken(
        "a text is blank",
        "drop_blank_text",
        (CONTENT, r"\bblank\b|non-whitespace"),
    ),
    _broken(
        "a message or a block is empty, or the list itself is",
        "drop_empty_text",
        (
            CONTENT,
            r"""non-?empty|is empty|are empty|be empty|empty (?:array|content|message|string|text)
                |at least (?:one|1)\b|too short|greater than 0|minimum length|must not be null|got null|but got null
                |不能为空|为空""",
        ),
        (r"\bmessages?\b", r"must (?:have|contain) content"),
        (r"either content or tool_calls|\[\] is too short",),
        code=r"empty_array|empty_messages?",
    ),
    _broken(
        "the conversation may not end like this",
        "end_with_user",
        (r"\bprefill\b|assistant messages? at the end|(?:two|2) or more assistant|expected last role",),
        (
            r"\b(?:last|final|ends?|ending)\b",
            r"message|role|turn|conversation",
            r"must|should|ensure|expected|cannot",
        ),
    ),
    _broken(
        "the conversation may not begin like this",
        "start_with_user",
        (r"\b(?:first|starts?|begins?)\b", r"message|role|turn|conversation", r"must|should|ensure|expected|cannot"),
        (r"do(?:es)? not contain|must contain|no user|requires?", r"role of user|user (?:message|query|role|turn)"),
        unless=r"function name|tool_result",
    ),
    _broken(
        "messages of one role stand side by side",
        "merge_same_role",
        (r"\broles?\b|messages?\b|turns?\b|conversation|multi-?turn", r"alternat|consecutive|successive|in a row"),
    ),
    _broken(
        "a system message stands where it may not",
        "move_system_to_front",
        (r"system", r"\broles?\b|messages?\b", r"unexpected|invalid|not support|n't support|not allowed|only|must"),
        unless=r"operating system|system error|system (?:capacity|load)",
    ),
    _broken(
        "a message has a role that is not known here, or not here",
        "fix_roles",
        (r"unexpected role|valid (?:message )?role|role .{0,30}(?:after|following) role|multi-?turn requests?",),
        (r"\broles?\b", r"must be|not (?:supported|allowed|valid)|invalid|unsupported|only|should be|角色"),
        (r"角色", r"顺序|有误|错误"),
        (r"supported values are", r"'assistant'"),
        code=r"invalid_request_message_order|invalid_messages?|message_order\w*",
        unless=r"\biam\b|permission|service account|model role",
    ),
    _broken(
        "a message has parts where this endpoint takes only plain text",
        "flatten_content",
        (
            r"content|\btext\b|message",
            r"must be a string|must be string|expected (?:a )?string|got (?:an? )?(?:list|arr|obj)",
        ),
        (r"text is not set|unknown variant|cannot unmarshal array",),
    ),
    _broken(
        "the chat template of the model cannot render this history",
        "rebuild_messages",
        (r"jinja|chat template|prompt template|raise_exception|template", r"render|error|fail|apply|exception"),
        unless=r"--jinja|--chat-template",
    ),
)
"""The conversation as it was sent is invalid."""
