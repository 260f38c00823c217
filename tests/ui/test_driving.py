"""What a tab complains of, for every other test here trusts it."""

from sharing import opened


def test_a_frame_that_is_left_while_it_loads_is_no_complaint_and_one_that_is_let_down_is(share):
    framed = "**/memory?*embed=1*"
    share.page.route(framed, lambda route: None)
    with share.page.expect_event("requestfailed"):
        opened(share, panel="code")
        share.page.locator("dialog.share [data-close]").click()
    assert not share.complaints
    share.page.unroute(framed)
    share.page.route(framed, lambda route: route.abort("connectionreset"))
    with share.page.expect_event("requestfailed"):
        opened(share, panel="code")
    assert any("ERR_CONNECTION_RESET" in complaint for complaint in share.complaints)
    share.complaints.clear()
